package inspect

import (
	"strings"
	"sync"
	"time"
)

// inbox gathers what feeds tell until somebody takes it out. A key that changes
// a thousand times meanwhile is one entry, so that no reader is too slow.
type inbox struct {
	signal chan struct{} // holds a token when there is something
	catch  func()        // takes panics of whoever fills it

	mu      sync.Mutex
	current *feed // whose notifications count; two feeds overlap while one takes over
	db      string
	told
}

// told is what an inbox holds.
type told struct {
	keys    map[string]*tidings
	all     bool      // more keys changed than are kept: any may have
	flushed time.Time // when the server said that a database was emptied
	pongs   []string
	heard   time.Time // when anything came last
	failed  []*feed
	why     error
	dropped int // changes that were not kept
}

// tidings is what was told of one key.
type tidings struct {
	first   time.Time // when the first change was told
	last    time.Time
	tracked bool     // tracking told
	names   []string // what notifications said happened, in order
	more    bool     // and more than is kept
}

// How much an inbox keeps until it is taken out.
const (
	keysKept  = 50_000
	namesKept = 64
)

func newInbox(db string) *inbox {
	return &inbox{signal: make(chan struct{}, 1), catch: func() {}, db: db}
}

// note files a sign of life of the server and wakes the reader.
func (b *inbox) note(change func(now time.Time)) {
	b.file(func(now time.Time) {
		b.heard = now
		change(now)
	})
}

// file changes what is kept and wakes the reader.
func (b *inbox) file(change func(now time.Time)) {
	b.mu.Lock()
	change(time.Now())
	b.mu.Unlock()
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// key returns the entry of a key; nil where there are too many.
func (b *inbox) key(key string, now time.Time) *tidings {
	t := b.keys[key]
	if t == nil {
		if len(b.keys) >= keysKept {
			b.all = true
			b.dropped++
			return nil
		}
		if b.keys == nil {
			b.keys = map[string]*tidings{}
		}
		t = &tidings{first: now}
		b.keys[key] = t
	}
	t.last = now
	return t
}

// touch notes that tracking told of keys; those of one message stay together.
func (b *inbox) touch(keys ...string) {
	b.note(func(now time.Time) {
		for _, key := range keys {
			if t := b.key(key, now); t != nil {
				t.tracked = true
			}
		}
	})
}

// notified notes a keyspace event: its channel is __keyspace@<db>__:<key>.
func (b *inbox) notified(from *feed, channel, event string) {
	db, key, ok := strings.Cut(strings.TrimPrefix(channel, "__keyspace@"), "__:")
	if !ok || db != b.db || !strings.HasPrefix(channel, "__keyspace@") {
		return
	}
	b.note(func(now time.Time) {
		if from != b.current {
			return
		}
		t := b.key(key, now)
		switch {
		case t == nil:
		case len(t.names) < namesKept:
			t.names = append(t.names, event)
		default:
			t.more = true
		}
	})
}

func (b *inbox) flush() { b.note(func(now time.Time) { b.flushed = now }) }

func (b *inbox) pong(mark string) {
	b.note(func(time.Time) { b.pongs = append(b.pongs, mark) })
}

// end notes that a feed's connection is over, which is no sign of life: we may
// have closed it ourselves, since nothing came.
func (b *inbox) end(f *feed, err error) {
	b.file(func(time.Time) { b.failed, b.why = append(b.failed, f), err })
}

// follow makes a feed the one whose notifications count.
func (b *inbox) follow(f *feed) {
	b.mu.Lock()
	b.current = f
	b.mu.Unlock()
}

// take empties the inbox.
func (b *inbox) take() told {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.told
	b.told = told{heard: out.heard}
	return out
}
