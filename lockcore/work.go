package lockcore

import (
	"sync"
	"time"
)

// workers run flights. A worker that has nothing to do waits for a while, so
// that a busy Locker starts no goroutines and grows no stacks; then it ends.
type workers struct {
	mu      sync.Mutex
	idle    []*worker // the last one used is taken first
	unused  int       // as many were idle at every moment since the last sweep
	sweeper *time.Timer
}

// worker is one goroutine, and what its caller needs to wait for it.
type worker struct {
	flights chan *flight
	done    chan struct{} // the flight has ended
	quit    chan struct{} // closed: nobody waits for it
	timer   *time.Timer
}

// idleFor is how long a worker waits for work, at least; at most twice that.
const idleFor = time.Second

// get returns a worker that has nothing to do.
func (p *workers) get() *worker {
	p.mu.Lock()
	last := len(p.idle) - 1
	if last >= 0 {
		w := p.idle[last]
		p.idle = p.idle[:last]
		p.unused = min(p.unused, last)
		p.mu.Unlock()
		return w
	}
	p.unused = 0
	p.mu.Unlock()
	w := &worker{
		flights: make(chan *flight, 1), done: make(chan struct{}, 1),
		quit: make(chan struct{}), timer: time.NewTimer(time.Hour),
	}
	w.timer.Stop()
	go w.work()
	return w
}

// put gives a worker back that has nothing to do, or whose flight has ended.
func (p *workers) put(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, w)
	if p.sweeper == nil {
		p.unused = 0
		p.sweeper = time.AfterFunc(idleFor, p.sweep)
	}
}

// sweep ends the workers that were not needed since the last sweep.
func (p *workers) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.idle[:p.unused] {
		close(w.flights)
	}
	p.idle = append([]*worker(nil), p.idle[p.unused:]...)
	p.unused = len(p.idle)
	p.sweeper = nil
	if p.unused > 0 {
		p.sweeper = time.AfterFunc(idleFor, p.sweep)
	}
}

// start has the worker run a flight. Its timer fires after timeout.
func (w *worker) start(f *flight, timeout time.Duration, deadline time.Time) {
	w.ready(f, timeout, deadline)
	w.flights <- f
}

func (w *worker) ready(f *flight, timeout time.Duration, deadline time.Time) {
	f.quit, f.deadline = w.quit, deadline
	w.timer.Reset(timeout)
}

// leave is called by who waits no longer. The worker ends with its flight.
func (w *worker) leave() {
	w.timer.Stop()
	close(w.quit)
	close(w.flights)
}

func (w *worker) work() {
	for f := range w.flights {
		f.run()
		w.done <- struct{}{}
	}
}
