package sandbox

import (
	_ "embed"
	"fmt"
	"time"

	"fencepost/lockcore/wire"
)

var (
	//go:embed scripts/signal_drop.lua
	signalDrop string
	//go:embed scripts/zset_take.lua
	zsetTake string

	scriptSignalDrop = wire.NewScript("signal_drop", signalDrop)
	scriptZsetTake   = wire.NewScript("zset_take", zsetTake)
)

// setNX is SET NX, which most libraries take a lock with. lease 0: no expiry.
func (a *actor) setNX(key, value string, lease time.Duration) bool {
	args := []string{"SET", key, value, "NX"}
	if lease > 0 {
		args = append(args, "PX", millis(lease))
	}
	reply, err := a.do(args...)
	return err == nil && yes(reply)
}

func playRedisPy(s *Sandbox, key string) error {
	a, err := s.actor("reports")
	if err != nil {
		return err
	}
	var token string
	a.join(turn{
		take: func() (bool, time.Duration) {
			token = uuid1(time.Now(), [6]byte{0x02, 0x42, 0xac, 0x11, 0x00, 0x07}, uint16(a.rng.UintN(1<<14)))
			return a.setNX(key, token, 45*time.Second), 100 * time.Millisecond
		},
		drop: func() { a.run(scriptStringDrop, []string{key}, token) },
		work: 40 * time.Second, rest: 6 * time.Second,
	})
	return nil
}

func playRedsync(s *Sandbox, key string) error {
	return s.each([]string{"invoice-1", "invoice-2"}, func(a *actor) error {
		a.join(turn{ // its work hangs: the lease runs out under it
			take: func() (bool, time.Duration) {
				return a.setNX(key, a.base64(16), 8*time.Second), 150 * time.Millisecond
			},
			work: 12 * time.Second,
		})
		return nil
	})
}

func playSignal(s *Sandbox, key string) error {
	signal := "lock-signal:" + key[len("lock:"):]
	holder, err := s.actor("import-1")
	if err != nil {
		return err
	}
	holder.signalTurn(key, signal, nil)
	waiter, err := s.actor("import-2")
	if err != nil {
		return err
	}
	waiter.behind = behindEach
	waiter.signalTurn(key, signal, func() { _, _ = waiter.do("BLPOP", signal, "0") })
	return nil
}

// signalTurn holds a python-redis-lock for ever; block is how it waits.
func (a *actor) signalTurn(key, signal string, block func()) {
	me := a.base64(18)
	take := func() (bool, time.Duration) {
		if a.setNX(key, me, 0) {
			return true, 0
		}
		if block == nil {
			return false, 10 * time.Second
		}
		block()
		return false, time.Millisecond
	}
	a.join(turn{
		take: func() (bool, time.Duration) {
			if held, _ := a.do("GET", key); held == me {
				return true, 0
			}
			return take()
		},
		keep: func() bool { held, _ := a.do("GET", key); return held == me },
		drop: func() { a.run(scriptSignalDrop, []string{key, signal}, me) }, every: time.Second, rest: 5 * time.Second,
	})
}

func playLaravel(s *Sandbox, key string) error {
	a, err := s.actor("horizon")
	if err != nil {
		return err
	}
	a.join(turn{ // each job is killed in its work
		take: func() (bool, time.Duration) { return a.setNX(key, a.alnum(16), 0), 20 * time.Second },
		work: 20 * time.Second,
	})
	return nil
}

// alnum is a random string of letters and digits.
func (a *actor) alnum(n int) string {
	const set = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = set[a.rng.IntN(len(set))]
	}
	return string(b)
}

func playShedLock(s *Sandbox, key string) error {
	return s.each([]string{"web-1.example.org", "web-2.example.org"}, func(a *actor) error {
		var value string
		a.join(turn{
			take: func() (bool, time.Duration) {
				value = fmt.Sprintf("ADDED:%s@%s:%s", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), a.name, a.uuid())
				return a.setNX(key, value, 10*time.Minute), 5 * time.Second
			},
			drop: func() { a.run(scriptStringKeep, []string{key}, millis(20*time.Second), value) },
			work: 50 * time.Second, rest: 20 * time.Second,
		})
		return nil
	})
}

func playBullMQ(s *Sandbox, key string) error {
	a, err := s.actor("video-worker")
	if err != nil {
		return err
	}
	job := key[:len(key)-len(":lock")]
	worker, n := a.uuid(), 0
	var token string
	a.join(turn{
		take: func() (bool, time.Duration) {
			now := nowMS()
			_, _ = a.do("HSET", job, "name", "transcode", "data", `{"file":"a.mp4"}`, "opts", `{"attempts":0}`,
				"timestamp", now, "delay", "0", "priority", "0", "processedOn", now, "ats", "1", "pb", a.name)
			token = fmt.Sprintf("%s:%d", worker, n)
			n++
			return a.setNX(key, token, watchdogLease), 30 * time.Second
		},
		keep:  func() bool { return yes(a.run(scriptStringKeep, []string{key}, millis(watchdogLease), token)) },
		drop:  func() { a.run(scriptStringDrop, []string{key}, token) },
		every: 15 * time.Second, work: 3 * time.Minute, rest: 2 * time.Second,
	})
	return nil
}

func playSymfony(s *Sandbox, key string) error {
	a, err := s.actor("pdf")
	if err != nil {
		return err
	}
	token := a.base64(32)
	put := func() any {
		return a.run(scriptZsetTake, []string{key}, token, nowMS(), millis(time.Minute))
	}
	a.join(turn{
		take:  func() (bool, time.Duration) { return yes(put()), time.Second },
		keep:  func() bool { score, err := a.do("ZSCORE", key, token); return err == nil && score != nil && yes(put()) },
		every: 20 * time.Second, rest: 15 * time.Second,
	})
	return nil
}

// playStale leaves a lock whose own deadline was twelve minutes ago.
func playStale(s *Sandbox, key string) error {
	a, err := s.actor("cleanup")
	if err != nil {
		return err
	}
	past := time.Now().Add(-12 * time.Minute)
	if _, err := a.do("SET", key, fmt.Sprintf("%.6f", float64(past.UnixMicro())/1e6)); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

func playHomeGrown(s *Sandbox, key string) error {
	a, err := s.actor("report.sh")
	if err != nil {
		return err
	}
	a.join(turn{
		take: func() (bool, time.Duration) { return a.setNX(key, "1", 15*time.Minute), 10 * time.Second },
		work: time.Minute,
	})
	return nil
}
