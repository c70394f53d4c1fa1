package lockcore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// Days of clients that acquire, wait, stall, renew, forget and release, behind
// networks that delay, hold and cut, in virtual time. After every step of
// anybody the rules are looked at. FENCEPOST_SEED=n runs the schedule n again.
func TestSimulation(t *testing.T) {
	first, rounds := rand.Uint64(), redistest.Rounds(6, 400)
	if text := os.Getenv("FENCEPOST_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, rounds = n, 1
	}
	for i := range rounds {
		seed := first + uint64(i)
		virtual(t, func(t *testing.T, w *world) {
			sim := &simulation{t: t, w: w, seed: seed, random: rand.New(rand.NewPCG(seed, 0)), held: map[*Lease]bool{}}
			sim.run()
		})
		if t.Failed() {
			t.Fatalf("FENCEPOST_SEED=%d", seed)
		}
	}
}

const simTTL = 2 * time.Second

type simulation struct {
	t    *testing.T
	w    *world
	seed uint64

	mu     sync.Mutex
	random *rand.Rand
	held   map[*Lease]bool
	last   Fence // granted
	seen   Fence // accepted by the guard
	grants int
	lost   int
}

// chance and pause are the schedule's dice.
func (s *simulation) chance(percent int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(100) < percent
}

func (s *simulation) pause(most time.Duration) {
	s.mu.Lock()
	d := time.Duration(s.random.Int64N(int64(most)))
	s.mu.Unlock()
	time.Sleep(d)
}

func (s *simulation) run() {
	var clients, weather sync.WaitGroup
	ctx, cancel := context.WithCancel(s.t.Context())
	for i := range 5 {
		n := s.w.another()
		l := n.locker(WithTTL(simTTL))
		g := guardOf(s.t, l, "r")
		clients.Go(func() {
			for range 25 {
				s.client(i, l, g)
			}
		})
		weather.Go(func() { s.weather(ctx, n) })
	}
	clients.Wait()
	cancel()
	weather.Wait()
	if s.grants < 20 {
		s.t.Errorf("seed %d: only %d grants; this shows little", s.seed, s.grants)
	}
	s.t.Logf("seed %d: %d grants, %d leases lost, last fence %v", s.seed, s.grants, s.lost, s.last)
}

// weather changes what a network does.
func (s *simulation) weather(ctx context.Context, n *network) {
	for ctx.Err() == nil {
		s.pause(4 * simTTL)
		n.set(func(f *virtualFaults) {
			s.mu.Lock()
			defer s.mu.Unlock()
			*f = virtualFaults{}
			switch s.random.IntN(8) {
			case 0:
				f.holdRequests, f.holdReplies = true, true
			case 1:
				f.holdReplies = true
			case 2:
				f.requestDelay = time.Duration(s.random.Int64N(int64(simTTL)))
			case 3:
				f.replyDelay = time.Duration(s.random.Int64N(int64(simTTL)))
			case 4:
				f.cut = 1 + s.random.IntN(4)
			}
		})
		s.rules()
	}
	n.heal()
}

// client does one of the things that clients do.
func (s *simulation) client(i int, l *Locker, g *Guard) {
	s.pause(simTTL)
	ctx, cancel := context.WithTimeout(s.t.Context(), simTTL*3)
	defer cancel()
	opts := []Option{WithLabel(fmt.Sprint("client ", i))}
	if s.chance(40) {
		opts = append(opts, WithFair())
	}
	if s.chance(20) {
		opts = append(opts, WithoutRenewal())
	}
	acquire := l.Acquire
	if s.chance(40) {
		acquire = l.TryAcquire
	}
	lease, err := acquire(ctx, "a", opts...)
	if err != nil {
		return
	}
	s.granted(lease)
	s.pause(simTTL / 2)
	s.write(ctx, g, lease)
	if s.chance(15) { // stands still, as far as its work goes
		s.pause(2 * simTTL)
		s.write(ctx, g, lease)
	}
	s.rules()
	if s.chance(10) {
		lease.h.forgotten() // and is never released
		<-lease.Context().Done()
	} else {
		_ = lease.Release(ctx) // may fail in this weather
	}
	s.mu.Lock()
	delete(s.held, lease)
	if errors.Is(lease.Err(), ErrLost) {
		s.lost++
	}
	s.mu.Unlock()
	s.rules()
}

func (s *simulation) granted(lease *Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[lease] = true
	s.grants++
	// Answers may come in another order than the grants; who is told later and
	// holds now was granted later.
	if lease.Err() == nil && lease.Fence().Compare(s.last) <= 0 {
		s.t.Errorf("seed %d: %v was granted after %v", s.seed, lease.Fence(), s.last)
	}
	if lease.Fence().Compare(s.last) > 0 {
		s.last = lease.Fence()
	}
}

func (s *simulation) write(ctx context.Context, g *Guard, lease *Lease) {
	before := func() Fence { s.mu.Lock(); defer s.mu.Unlock(); return s.seen }()
	err := g.Set(ctx, lease, []byte(lease.Fence().String()))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && lease.Fence().Compare(before) < 0 {
		s.t.Errorf("seed %d: the guard let %v pass after %v", s.seed, lease.Fence(), before)
	}
	if err == nil && lease.Fence().Compare(s.seen) > 0 {
		s.seen = lease.Fence()
	}
}

// rules are what must be true at any moment.
func (s *simulation) rules() {
	s.mu.Lock()
	defer s.mu.Unlock()
	holding := []string{}
	for lease := range s.held {
		if lease.Err() == nil {
			holding = append(holding, lease.Fence().String())
		}
	}
	if len(holding) > 1 {
		s.t.Errorf("seed %d: %s believe that they hold the lock", s.seed, strings.Join(holding, " and "))
	}
	bare := func(key string) bool { return s.w.m.Exists(key) && s.w.m.TTL(key) <= 0 }
	for _, key := range s.w.m.Keys() {
		permanent := key == "lock:{a}:fence" || key == "r" || key == "{r}:seen"
		if !permanent && bare(key) && bare(key) { // twice: it may go between two looks
			s.t.Errorf("seed %d: %s has no TTL", s.seed, key)
		}
	}
}
