package lockcore

import (
	"container/heap"
	"math"
	"sync"
	"time"
)

// never is a time that does not come.
const never int64 = math.MaxInt64

// renewRetry is the first pause after a renewal that failed.
const renewRetry = 10 * time.Millisecond

// scheduler watches all leases of a Locker: it ends those whose time is over,
// at that very moment, and has the others renewed. It is one timer and a heap;
// it sends nothing itself, so no server can hold it up, and when there is no
// lease there is nothing that runs.
type scheduler struct {
	l *Locker

	mu    sync.Mutex
	heap  holds
	timer *time.Timer
	armed int64 // when the timer fires; never when it does not
}

func (s *scheduler) init(l *Locker) { s.l, s.armed = l, never }

// add puts a lease under watch, or looks again when its next moment is.
func (s *scheduler) add(h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.mu.Lock() // always after s.mu
	living := h.living()
	h.due = h.nextDue()
	h.mu.Unlock()
	switch {
	case !living:
		s.drop(h)
	case h.slot < 0:
		heap.Push(&s.heap, h)
	default:
		heap.Fix(&s.heap, h.slot)
	}
	s.arm()
}

// remove ends the watch over a lease. The timer may fire once for nothing.
func (s *scheduler) remove(h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(h)
}

func (s *scheduler) drop(h *hold) {
	if h.slot >= 0 {
		heap.Remove(&s.heap, h.slot)
	}
}

// arm sets the timer to the first moment, unless it fires before that anyway.
func (s *scheduler) arm() {
	if len(s.heap) == 0 || s.heap[0].due >= s.armed {
		return
	}
	s.armed = s.heap[0].due
	wait := time.Duration(s.armed - s.l.clock.read().mono)
	if s.timer == nil {
		s.timer = time.AfterFunc(wait, s.run)
	} else {
		s.timer.Reset(wait)
	}
}

// run looks at all leases whose moment has come, and at those whose renewal is
// near, so that many are renewed together.
func (s *scheduler) run() {
	now := s.l.clock.read()
	s.mu.Lock()
	s.armed = never
	var due []*hold
	for len(s.heap) > 0 && s.heap[0].due <= now.mono+int64(s.heap[0].early()) {
		due = append(due, heap.Pop(&s.heap).(*hold))
	}
	s.mu.Unlock()
	var renew []*hold
	for _, h := range due {
		if h.tick(now) {
			renew = append(renew, h)
		}
		s.add(h)
	}
	s.l.renewAll(renew)
	s.mu.Lock()
	s.arm()
	s.mu.Unlock()
}

// early is how long before its time a renewal may be sent, in company.
func (h *hold) early() time.Duration { return h.cfg.ttl / 30 }

// nextDue is when the scheduler must look at the lease: when it is to be
// renewed, or is over. mu is held.
func (h *hold) nextDue() int64 {
	left := h.deadline.mono
	if h.renewing {
		return left
	}
	return min(left, h.renewAt)
}

// tick ends the lease if its time is over, and reports whether it is to be
// renewed now.
func (h *hold) tick(now instant) (renew bool) {
	h.mu.Lock()
	due := h.nextDue()
	late := time.Duration(now.mono - due)
	living, over := h.living(), h.over(now)
	renew = living && !over && !h.renewing && now.mono+int64(h.early()) >= h.renewAt
	if renew && h.ctx.Err() != nil {
		renew, h.renewAt = false, never // its owner has ended; the deadline is still watched
	}
	h.renewing = h.renewing || renew
	h.mu.Unlock()
	if !living {
		return false
	}
	if late > h.cfg.ttl/3 {
		h.observe(Event{Kind: EventPaused, Late: late})
	}
	if over {
		h.lose(h.timeOver(now))
	} else if renew && late > h.cfg.ttl/6 {
		h.observe(Event{Kind: EventRenewalLate, Late: late})
	}
	return renew
}

// holds is a heap of leases, the one that is due first on top.
type holds []*hold

func (q holds) Len() int           { return len(q) }
func (q holds) Less(i, j int) bool { return q[i].due < q[j].due }
func (q holds) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].slot, q[j].slot = i, j
}

// Push is heap's.
func (q *holds) Push(x any) {
	h := x.(*hold)
	h.slot = len(*q)
	*q = append(*q, h)
}

// Pop is heap's.
func (q *holds) Pop() any {
	last := len(*q) - 1
	h := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	h.slot = -1
	return h
}
