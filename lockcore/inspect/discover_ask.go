package inspect

import (
	"cmp"
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
func (n *nodeWalk) ask(ctx context.Context, r *scanReader, cursor string, count int, early func(next string)) page {
	p := page{count: count}
	args := []any{"scan", cursor, "count", count}
	if n.pattern != "" {
		args = append(args, "match", n.pattern)
	}
	sent := time.Now()
	p.next, p.keys, p.err = r.ask(ctx, n.Client, args, n.list(), early)
	p.took = time.Since(sent)
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

// errGivenUp cannot be, but for a fault in a goroutine that asks.
var errGivenUp = errors.New("inspect: the scan was given up")

// fast looks at pages as they come, and has others ask for them.
func (n *nodeWalk) fast(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	a := &asker{n: n, pages: make(chan page, 1)}
	a.running.Go(func() {
		defer n.w.catch()
		defer close(a.pages)
		a.run(ctx)
	})
	defer a.running.Wait()
	defer cancel()
	for p := range a.pages {
		if last, err := n.page(ctx, p); err != nil || last {
			return err
		}
	}
	return cmp.Or(context.Cause(ctx), errGivenUp)
}

// asker keeps the server busy: an answer begins with the cursor, so the next page
// is asked for, on another connection, while the keys of this one come.
type asker struct {
	n       *nodeWalk
	pages   chan page     // in their order
	readers [2]scanReader // at most two requests are under way
	sent    int
	running sync.WaitGroup
}

// request is a SCAN under way.
type request struct {
	cursor string
	next   chan string // the cursor to go on with, or none where only the whole answer tells
	answer chan page
}

func (a *asker) send(ctx context.Context, cursor string) *request {
	q := &request{cursor: cursor, next: make(chan string, 1), answer: make(chan page, 1)}
	r, count := &a.readers[a.sent%len(a.readers)], a.n.pace.count
	a.sent++
	a.running.Go(func() {
		defer a.n.w.catch()
		defer close(q.answer)
		defer close(q.next)
		q.answer <- a.n.ask(ctx, r, cursor, count, func(next string) { q.next <- next })
	})
	return q
}

// run asks for page after page, until the last, an error, or ctx's end.
func (a *asker) run(ctx context.Context) {
	for q := a.send(ctx, a.n.cursor); ; {
		var ahead *request
		if next, ok := <-q.next; ok && next != "0" {
			ahead = a.send(ctx, next)
		}
		p, ok := <-q.answer
		if !ok {
			return
		}
		if p.err == nil {
			a.n.pace.learn(p.took)
		}
		select {
		case a.pages <- p:
		case <-ctx.Done():
			return
		}
		if p.err != nil || p.last() {
			return
		}
		q = a.follow(ctx, ahead, p.next)
	}
}

// follow is the request for the page that comes next: the one that was sent
// ahead, unless its cursor is not the right one, because that answer was not
// plainly a page and was asked for again.
func (a *asker) follow(ctx context.Context, ahead *request, cursor string) *request {
	if ahead != nil && ahead.cursor == cursor {
		return ahead
	}
	if ahead != nil {
		<-ahead.answer // its reader is needed
	}
	return a.send(ctx, cursor)
}
