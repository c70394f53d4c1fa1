package main

import (
	"context"
	"sync"
	"time"
)

// hold is how long each of the contending waiters keeps the lock.
const hold = 20 * time.Millisecond

// contendResult is what 32 hungry waiters came to.
type contendResult struct {
	acquisitions int
	commands     float64 // of one acquisition
	worst        time.Duration
	holds        time.Duration // 32 of them, as long as they really were
}

// contention has 8 processes with 4 waiters each want one lock, again and again.
func (m *measurement) contention() error {
	m.printf("32 contending waiters in 8 processes, holds of %v\n", hold)
	m.printf("  %-32s %12s %12s %12s %12s\n", "", "acquisitions", "commands per", "worst wait", "in holds")
	for _, s := range append(subjects[:len(subjects):len(subjects)], lockcoreFair) {
		r, err := contend(s, time.Duration(m.rounds(4, 20))*time.Second)
		if err != nil {
			return err
		}
		share := r.worst.Seconds() / r.holds.Seconds()
		m.printf("  %-32s %12d %12.1f %12v %12.2f\n", s.name, r.acquisitions, r.commands, r.worst.Round(time.Millisecond), share)
		if s.name == lockcoreFair.name {
			m.target(r.commands <= 3.2, "fair: at most 3.2 commands per acquisition: %.2f", r.commands)
			m.target(share <= 1.2, "fair: the worst wait within 1.2 of the sum of holds: %.2f", share)
		}
	}
	return nil
}

func contend(s subject, span time.Duration) (r contendResult, err error) {
	addr, stop, err := startServer()
	if err != nil {
		return r, err
	}
	defer stop()
	var processes []*process
	for range 8 {
		p, err := s.start(addr, &counter{})
		if err != nil {
			return r, err
		}
		defer p.close()
		processes = append(processes, p)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	var held time.Duration
	counted := false // the first second is not
	for i := range 32 {
		all.Go(func() {
			for {
				began := time.Now()
				unlock, lockErr := processes[i%8].lock(ctx, "contend")
				if lockErr != nil {
					return // the time is over
				}
				got := time.Now()
				time.Sleep(hold)
				mu.Lock()
				if counted {
					r.acquisitions++
					r.worst = max(r.worst, got.Sub(began))
					held += time.Since(got)
				}
				mu.Unlock()
				_ = unlock()
			}
		})
	}
	sent := func() (n int64) {
		for _, p := range processes {
			n += p.n.Load()
		}
		return n
	}
	time.Sleep(time.Second)
	mu.Lock()
	counted = true
	mu.Unlock()
	before := sent()
	time.Sleep(span)
	mu.Lock()
	counted = false
	r.commands = float64(sent()-before) / float64(r.acquisitions)
	r.holds = held / time.Duration(r.acquisitions) * 32
	mu.Unlock()
	cancel()
	all.Wait()
	return r, nil
}
