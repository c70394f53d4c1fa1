package sandbox

import (
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2/proto"

	"fencepost/lockcore/wire"
)

// The scripts do to the keys what the libraries' own scripts do.
var (
	//go:embed scripts/hash_keep.lua
	hashKeep string
	//go:embed scripts/string_keep.lua
	stringKeep string
	//go:embed scripts/string_drop.lua
	stringDrop string

	scriptHashKeep   = wire.NewScript("hash_keep", hashKeep)
	scriptStringKeep = wire.NewScript("string_keep", stringKeep)
	scriptStringDrop = wire.NewScript("string_drop", stringDrop)
)

// actor is one demo client: a process that uses a lock library.
type actor struct {
	s    *Sandbox
	ctx  context.Context
	name string
	rng  *rand.Rand
	conn *proto.Client
	// behind is how much later than the first of its kind it acts, so that two
	// who want one lock never race, and a demo plays alike every time.
	behind time.Duration
}

// actor makes a client of this name; its ids come from the sandbox's seed and
// the name.
func (s *Sandbox) actor(name string) (*actor, error) {
	var mixed uint64 = 14695981039346656037
	for _, c := range []byte(name) { // FNV-1a
		mixed = (mixed ^ uint64(c)) * 1099511628211
	}
	a := &actor{s: s, ctx: s.ctx, name: name, rng: rand.New(rand.NewPCG(s.opts.Seed, mixed))}
	conn, err := a.dial()
	a.conn = conn
	return a, err
}

// dial connects and introduces the client. The connection closes when the
// sandbox does, which ends a command that blocks.
func (a *actor) dial() (*proto.Client, error) {
	c, err := a.s.m.Dial()
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	context.AfterFunc(a.ctx, func() { _ = c.Close() })
	conn := proto.NewClient(c)
	if _, err := conn.Do("CLIENT", "SETNAME", a.name); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return conn, nil
}

// do sends a command. A reply that is an error is returned as one.
func (a *actor) do(args ...string) (any, error) {
	raw, err := a.conn.Do(args...)
	if err != nil {
		return nil, err
	}
	reply, err := proto.Parse(raw)
	if err != nil {
		if raw == "$-1\r\n" || raw == "*-1\r\n" || raw == "_\r\n" {
			return nil, nil
		}
		return nil, err
	}
	if e, ok := reply.(error); ok {
		return nil, errors.New(wire.Clean(e.Error()))
	}
	return reply, nil
}

// all sends commands in turn until one fails.
func (a *actor) all(commands ...[]string) bool {
	for _, c := range commands {
		if _, err := a.do(c...); err != nil {
			return false
		}
	}
	return true
}

// run sends a script and returns its reply.
func (a *actor) run(s *wire.Script, keys []string, args ...string) any {
	reply, err := a.do(s.Call(keys, args...).Argv()...)
	if err != nil {
		return nil
	}
	return reply
}

// yes reports whether a reply says that something was done.
func yes(reply any) bool { return reply == 1 || reply == "OK" }

// sleep waits, and reports false when the sandbox ends meanwhile.
func (a *actor) sleep(d time.Duration) bool { return a.wait(nil, d) }

// wait waits until it is woken or the time is over, and reports false when the
// sandbox ends meanwhile.
func (a *actor) wait(woken <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-a.ctx.Done():
		return false
	case <-woken:
	case <-t.C:
	}
	return true
}

// listen returns how an actor hears of a channel while it waits: a subscription
// on a connection of its own, which stop ends.
func (a *actor) listen(channel string) func() (woken <-chan struct{}, stop func()) {
	return func() (<-chan struct{}, func()) {
		heard := make(chan struct{}, 1)
		conn, err := a.dial()
		if err != nil {
			return heard, func() {} // the sandbox is ending
		}
		_, _ = conn.Do("SUBSCRIBE", channel) // fails with the connection, which reading sees
		a.s.spawn(func() {
			for {
				if _, err := conn.Read(); err != nil {
					return
				}
				select {
				case heard <- struct{}{}:
				default:
				}
			}
		})
		return heard, func() { _ = conn.Close() }
	}
}

// turn is how an actor takes part in a lock: again and again it takes it, holds
// it while it works, and lets it go.
type turn struct {
	// take tries once. Where another holds the lock it returns how long to wait
	// at most before the next try.
	take func() (bool, time.Duration)
	// keep renews, and reports whether the lock is still the actor's. nil: the
	// library does not renew.
	keep  func() bool
	every time.Duration // between renewals
	drop  func()        // nil: it runs out by itself
	work  time.Duration // how long it is held; 0 for ever
	rest  time.Duration // until it is wanted again
	// listen begins to hear of releases; nil: the library polls. It is used
	// while the actor waits only, so that who listens are those who wait.
	listen func() (woken <-chan struct{}, stop func())
}

// join lets an actor take turns until the sandbox ends. Start waits for the
// first try of every actor that is not behind another, so that whoever looks
// then sees every lock.
func (a *actor) join(t turn) {
	tried := func() {}
	if a.behind == 0 {
		a.s.begun.Add(1)
		tried = sync.OnceFunc(a.s.begun.Done)
	}
	a.s.spawn(func() {
		defer tried()
		a.play(t, tried)
	})
}

func (a *actor) play(t turn, tried func()) {
	for ok := a.sleep(a.behind); ok; ok = a.hold(t) && a.sleep(t.rest) {
		if !a.acquire(t, tried) {
			return
		}
	}
}

// acquire waits until the lock is the actor's, and reports false when the
// sandbox ends.
func (a *actor) acquire(t turn, tried func()) bool {
	var woken <-chan struct{}
	for {
		ok, pause := t.take()
		tried()
		if ok {
			return true
		}
		if t.listen != nil && woken == nil {
			var stop func()
			woken, stop = t.listen()
			defer stop()
			continue // it may have become free before anybody listened
		}
		if !a.wait(woken, pause) || woken != nil && !a.sleep(a.behind) {
			return false
		}
	}
}

// hold works under the lock. It returns when the work is done or the lock was
// lost, and false when the sandbox ends.
func (a *actor) hold(t turn) bool {
	left, forever := t.work, t.work == 0
	for forever || left > 0 {
		step := left
		if t.keep != nil && (forever || t.every < left) {
			step = t.every
		}
		if forever && t.keep == nil {
			step = time.Minute
		}
		if !a.sleep(step) {
			return false
		}
		left -= step
		if t.keep != nil && (forever || left > 0) && !t.keep() {
			return true // somebody took it away: the library's renewal stops
		}
	}
	if t.drop != nil {
		t.drop()
	}
	return true
}

// millis writes a duration as Redis wants it.
func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// nowMS is the server's clock, which is this machine's.
func nowMS() string { return strconv.FormatInt(time.Now().UnixMilli(), 10) }

func (a *actor) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(a.rng.UintN(256))
	}
	return b
}

func (a *actor) base64(bytes int) string { return base64.StdEncoding.EncodeToString(a.bytes(bytes)) }

// uuid is a random (version 4) UUID.
func (a *actor) uuid() string {
	b := a.bytes(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// uuid1 is a time-based UUID in hex: the moment of the call and a host's MAC
// address, as Python's uuid1().hex.
func uuid1(at time.Time, mac [6]byte, clock uint16) string {
	const sinceGregorian = 0x01B21DD213814000 // 100 ns steps from 1582 to 1970
	t := uint64(at.UnixNano()/100) + sinceGregorian
	return fmt.Sprintf("%08x%04x1%03x%04x%x", uint32(t), uint16(t>>32), uint16(t>>48)&0x0fff, clock&0x3fff|0x8000, mac)
}
