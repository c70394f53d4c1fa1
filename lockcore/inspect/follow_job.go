package inspect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"
)

// readKeys does the looking.
func (t *tracker) readKeys(ctx context.Context, n Node, job *readJob) error {
	ask := false
	if job.first {
		job.count(ctx, n)
	}
	if len(job.known) > 0 {
		found, err := t.in.relook(ctx, n, job.known, job.founds)
		if err != nil {
			return err
		}
		job.take(found, nil)
		ask = len(job.locks) < len(job.founds) && (job.counts.facts.evicts || job.stale)
		ask = t.notes(ctx, job) && job.silent || ask
	}
	if len(job.unknown) > 0 {
		before := len(job.locks)
		if err := t.newcomers(ctx, n, job); err != nil {
			return err
		}
		ask = ask || job.silent && len(job.locks) > before
	}
	job.done = time.Now()
	if ask {
		job.count(ctx, n)
	}
	return nil
}

// mostNotes is how many locks that changed hands between two looks are asked
// whether an operator holds them.
const mostNotes = 20

// notes finds out which locks changed hands to an operator, where nobody tells:
// the note beside a lock does. It reports whether any changed hands.
func (t *tracker) notes(ctx context.Context, job *readJob) (changed bool) {
	asked := 0
	for i := range job.locks {
		l := &job.locks[i]
		was, ok := job.was[string(l.Key)]
		if !ok || len(l.Holders) != 1 || l.Holders[0].ID == was {
			continue
		}
		if changed = true; asked == mostNotes {
			continue
		}
		asked++
		if note, err := t.in.HoldOf(ctx, l); err == nil && note != nil {
			if job.held == nil {
				job.held = map[string]bool{}
			}
			job.held[string(l.Key)] = true
		}
	}
	return changed
}

// newcomers looks at keys that may be locks, as a scan would.
func (t *tracker) newcomers(ctx context.Context, n Node, job *readJob) error {
	w := &nodeWalk{Node: n, w: t.scan.sieve, guess: t.scan.guess}
	worth, err := w.chunk(ctx, job.unknown)
	if err != nil || len(worth) == 0 {
		return err
	}
	if err := w.complete(ctx, worth); err != nil {
		return err
	}
	found, err := t.in.decode(ctx, n, worth, nil)
	if err != nil {
		return err
	}
	job.take(found, t.scan.sieve.acceptable)
	return nil
}

// take adds what a look came to; acceptable may be nil.
func (j *readJob) take(found looked, acceptable func(*Lock) bool) {
	for i := range found.locks {
		if acceptable == nil || acceptable(&found.locks[i]) {
			j.locks = append(j.locks, found.locks[i])
		}
	}
	if j.unread == nil {
		j.unread = map[string]string{}
	}
	maps.Copy(j.unread, found.unread)
	if j.ends == nil {
		j.ends = found.ends
	} else {
		maps.Copy(j.ends, found.ends)
	}
}

// looked takes a job's result. Where notifications say what happened, it waits
// until all that was told before the look has come: another connection brings it.
func (t *tracker) looked(job *readJob) {
	r := &t.read
	if job.err != nil {
		r.job = nil
		for key, m := range job.marks {
			t.merge(key, m)
		}
		r.nextAt = time.Now().Add(pulse / 2)
		t.failed(job.err)
		return
	}
	if t.stuck {
		t.stuck = false
		t.publish(func(s *NodeStatus) { s.Err = "" })
	}
	t.answered(job.done)
	if t.feeds.notifies && len(job.marks) > 0 && t.feeds.cur != nil {
		job.barrier = strconv.FormatUint(r.jobs, 10)
		if t.feeds.cur.ping(t.ctx, job.barrier) == nil {
			return
		}
		job.barrier = ""
	}
	t.settle(job, false)
}

// merge puts a mark back, before what came meanwhile.
func (t *tracker) merge(key string, old *mark) {
	m := t.read.marks[key]
	if m == nil {
		if t.read.marks == nil {
			t.read.marks = map[string]*mark{}
		}
		t.read.marks[key] = old
		return
	}
	if old.tracked || !m.tracked {
		m.first = old.first
	}
	m.names = append(slices.Clone(old.names), m.names...)
	m.more = m.more || old.more
	if len(m.names) > namesKept {
		m.names, m.more = m.names[:namesKept], true
	}
	m.tracked, m.flushed = m.tracked || old.tracked, m.flushed || old.flushed
	m.zero, m.found, m.seen, m.late = m.zero || old.zero, m.found || old.found, m.seen || old.seen, m.late || old.late
	m.lock, m.within = cmp.Or(old.lock, m.lock), cmp.Or(old.within, m.within)
	if m.gap == "" {
		m.gap = old.gap
	}
	m.tries = max(m.tries, old.tries)
}

// barrier settles the job that waited for this answer.
func (t *tracker) barrier(pong string) {
	if pong == t.read.behind {
		t.read.behind = ""
	}
	if job := t.read.job; job != nil && job.barrier == pong && !job.done.IsZero() {
		t.settle(job, true)
	}
}
