package inspect

import (
	"context"
	"errors"
	"sync"
	"time"
)

// page is the answer to one SCAN.
type page struct {
	keys  []string
	next  string // the cursor to go on with, as the server wrote it
	count int
	took  time.Duration
	err   error
}

// last reports whether the scan ends here. Empty pages are normal: only the
// cursor ends a scan.
func (p *page) last() bool { return p.next == "0" }

// ask asks for one page. A cursor is text, not a number: it may use all 64 bits,
// and proxies make their own. early, if not nil, is told the next one before the
// keys have come.
func (n *nodeWalk) ask(ctx context.Context, r *scanReader, cursor string, early func(next string)) page {
	n.pacing.Lock()
	p := page{count: n.pace.count}
	n.pacing.Unlock()
	args := []any{"scan", cursor, "count", p.count}
	if n.pattern != "" {
		args = append(args, "match", n.pattern)
	}
	sent := time.Now()
	p.next, p.keys, p.err = r.ask(ctx, n.Client, args, n.list(), early)
	p.took = time.Since(sent)
	if p.err == nil {
		n.pacing.Lock()
		n.pace.learn(p.took)
		n.pacing.Unlock()
	}
	return p
}

// list is a list of keys that is not needed any more, or none.
func (n *nodeWalk) list() []string {
	select {
	case l := <-n.lists:
		return l
	default:
		return nil
	}
}

// fast walks with two requests under way: an answer begins with the cursor, so the
// next page is asked for, on another connection, while the keys of this one come,
// and the server hardly waits for us. Where a cursor that was told early turns out
// to be the wrong one, the two begin again at the right one.
func (n *nodeWalk) fast(ctx context.Context) error {
	for {
		if err := n.inTurns(ctx); !errors.Is(err, errStrayed) {
			return err
		}
	}
}

// inTurns walks with two goroutines that take turns.
func (n *nodeWalk) inTurns(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var both sync.WaitGroup
	ended := make(chan error, 2)
	turns := [2]turn{newTurn(), newTurn()}
	for i := range turns {
		both.Go(func() {
			defer n.w.catch()
			defer cancel(errGivenUp)
			ended <- n.leapfrog(ctx, turns[i], turns[1-i])
		})
	}
	turns[0].ask <- n.cursor
	turns[0].look <- n.cursor
	both.Wait()
	close(ended)
	if err, ok := <-ended; ok { // the first one; the other was stopped by it
		return err
	}
	return errGivenUp
}

// errGivenUp cannot be, but for a fault in a goroutine that asks.
var errGivenUp = errors.New("inspect: the scan was given up")

// errStrayed: a page was asked for at a cursor that does not count, because the
// answer before it was not plainly a page and was asked for again.
var errStrayed = errors.New("inspect: the scan asked ahead at a wrong cursor")

// turn is what one of the two is told by the other.
type turn struct {
	ask  chan string // a cursor to ask for, perhaps too early
	look chan string // all pages before this cursor were looked at
}

func newTurn() turn { return turn{ask: make(chan string, 1), look: make(chan string, 1)} }

// leapfrog asks for every second page, and looks at it.
func (n *nodeWalk) leapfrog(ctx context.Context, own, other turn) error {
	var r scanReader
	for {
		cursor, ok := receive(ctx, own.ask)
		if !ok {
			return context.Cause(ctx)
		}
		told := false
		tell := func(next string) {
			if !told && next != "0" {
				told = true
				other.ask <- next
			}
		}
		p := n.ask(ctx, &r, cursor, tell)
		right, ok := receive(ctx, own.look)
		if !ok {
			return context.Cause(ctx)
		}
		if cursor != right {
			return errStrayed
		}
		if p.err == nil {
			tell(p.next)
		}
		last, err := n.page(ctx, p)
		if err != nil || last {
			return err
		}
		other.look <- p.next
	}
}

// receive is false where ctx ended first.
func receive(ctx context.Context, from <-chan string) (string, bool) {
	select {
	case s := <-from:
		return s, true
	case <-ctx.Done():
		return "", false
	}
}
