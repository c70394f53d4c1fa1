package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// idle counts what 8 waiters send, each in a process of its own, while one
// holder keeps the lock.
func (m *measurement) idle() error {
	m.printf("Commands a second of 8 waiters while one holder keeps the lock\n")
	for _, s := range append(subjects[:len(subjects):len(subjects)], lockcoreFair) {
		rate, err := m.idleOf(s)
		if err != nil {
			return err
		}
		m.printf("  %-32s %8.1f\n", s.name, rate)
		if s.name == subjects[0].name || s.name == lockcoreFair.name {
			m.target(rate == 0, "%s: 0 while waiting", s.name)
		}
	}
	return nil
}

func (m *measurement) idleOf(s subject) (float64, error) {
	addr, stop, err := startServer()
	if err != nil {
		return 0, err
	}
	defer stop()
	holder, err := s.start(addr, nil)
	if err != nil {
		return 0, err
	}
	defer holder.close()
	ctx, cancel := context.WithCancel(context.Background())
	unlock, err := holder.lock(ctx, "idle")
	if err != nil {
		cancel()
		return 0, err
	}
	var all sync.WaitGroup
	var waiters []*process
	for range 8 {
		w, err := s.start(addr, &counter{})
		if err != nil {
			cancel()
			return 0, err
		}
		waiters = append(waiters, w)
		all.Go(func() { // ends with the context
			if unlock, err := w.lock(ctx, "idle"); err == nil {
				_ = unlock()
			}
		})
	}
	sent := func() (n int64) {
		for _, w := range waiters {
			n += w.n.Load()
		}
		return n
	}
	time.Sleep(time.Second) // subscribed, and settled
	before, span := sent(), time.Duration(m.rounds(2, 10))*time.Second
	time.Sleep(span)
	rate := float64(sent()-before) / span.Seconds()
	cancel()
	_ = unlock()
	all.Wait()
	for _, w := range waiters {
		w.close()
	}
	return rate, nil
}

// handOff is what is measured of one library with so many waiters.
type handOff struct {
	subject   subject
	processes []*process // the first one is the holder, the others wait
	micros    []float64
	stalls    int // waits that did not end though the lock was free
}

// stall is how long a wait may take before it counts as one that does not end.
const stall = 5 * time.Second

// handOffs measures from the moment at which a holder begins to release to the
// moment at which the next one has the lock. The libraries take turns, so that
// what disturbs the machine disturbs all alike; those that poll take fewer.
func (m *measurement) handOffs() error {
	addr, stop, err := startServer()
	if err != nil {
		return err
	}
	defer stop()
	all := append([]subject{subjects[0], subjects[3], lockcoreFair}, subjects[1:3]...)
	figures := make([][]float64, len(all))
	for _, waiters := range []int{1, 8} {
		runs, err := startHandOffs(addr, all, waiters)
		if err != nil {
			return err
		}
		for round := range m.rounds(400, 4000) / waiters {
			for i, h := range runs {
				if polls := i > 2; polls && round%10 != 0 {
					continue
				}
				if err := h.round(round < 2); err != nil {
					return err
				}
			}
		}
		for i, h := range runs {
			if h.stalls > 0 {
				m.printf("%s: %d of %d waiters were not woken within %v\n", h.subject.name, h.stalls, h.stalls+len(h.micros), stall)
			}
			figures[i] = append(figures[i], percentile(h.micros, 50), percentile(h.micros, 99))
			for _, p := range h.processes {
				p.close()
			}
		}
	}
	m.handOffReport(all, figures)
	return nil
}

func startHandOffs(addr string, all []subject, waiters int) (runs []*handOff, err error) {
	for _, s := range all {
		h := &handOff{subject: s}
		for range waiters + 1 {
			p, err := s.start(addr, nil)
			if err != nil {
				return nil, err
			}
			h.processes = append(h.processes, p)
		}
		runs = append(runs, h)
	}
	return runs, nil
}

func (m *measurement) handOffReport(all []subject, figures [][]float64) {
	m.printf("Hand-off from a holder to a waiter, µs, in turns\n")
	m.printf("  %-32s %10s %10s %10s %10s\n", "", "1: p50", "1: p99", "8: p50", "8: p99")
	for i, s := range all {
		f := figures[i]
		m.printf("  %-32s %10.0f %10.0f %10.0f %10.0f\n", s.name, f[0], f[1], f[2], f[3])
	}
	own, best := figures[0], figures[1]
	for i, what := range []string{"1 waiter, p50", "1 waiter, p99", "8 waiters, p50", "8 waiters, p99"} {
		m.target(own[i] <= best[i], "%s not above rueidislock's: %.0f, %.0f", what, own[i], best[i])
	}
}

// round is one holder and the waiters behind it; all have their turn.
func (h *handOff) round(warm bool) (err error) {
	ctx, key := context.Background(), "hand-off "+h.subject.name
	unlock, err := h.processes[0].lock(ctx, key)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var released time.Time
	var failed error
	var all sync.WaitGroup
	for _, p := range h.processes[1:] {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, stall)
			defer cancel()
			unlock, err := p.lock(ctx, key)
			now := time.Now()
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, context.DeadlineExceeded) {
				h.stalls++
				return
			}
			if err != nil {
				failed = err
				return
			}
			if !warm {
				h.micros = append(h.micros, float64(now.Sub(released).Nanoseconds())/1000)
			}
			time.Sleep(2 * time.Millisecond)
			released = time.Now()
			failed = unlock()
		})
	}
	time.Sleep(15 * time.Millisecond) // all wait
	mu.Lock()
	released = time.Now()
	mu.Unlock()
	if err := unlock(); err != nil {
		return err
	}
	all.Wait()
	return failed
}
