package main

import (
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect"
)

// memory is what the program takes while it follows 100,000 locks: as a stream
// of events, and as the console.
func (b *bench) memory() error {
	const n = 100_000
	s, err := start()
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.locks(b.ctx, n); err != nil {
		return err
	}
	args := []string{"-p", s.port, "--scan-rate", "0", "--names"}
	watch := exec.Command(b.fencepost, append([]string{"watch"}, args...)...)
	errs, err := watch.StderrPipe()
	if err != nil {
		return err
	}
	watch.Stdout = io.Discard
	if err := watch.Start(); err != nil {
		return err
	}
	b.target(fmt.Sprintf("resident memory of watch with %d locks", n), grown(watch, errs, fmt.Sprintf("%d locks", n)), 150, "MB")
	console := exec.Command(b.fencepost, args...)
	screen, err := pty.StartWithSize(console, &pty.Winsize{Cols: 200, Rows: 50})
	if err != nil {
		return err
	}
	defer func() { _ = screen.Close() }() // nothing is read from it any more
	b.target(fmt.Sprintf("resident memory of the console with %d locks", n), grown(console, screen, "100,000 locks"), 150, "MB")
	return nil
}

// grown is the most memory that a program has in the ten seconds after it has
// said something, in MB; it ends the program.
func grown(cmd *exec.Cmd, says io.Reader, something string) (most float64) {
	heard := make(chan struct{})
	go func() {
		kept, buf := "", make([]byte, 32<<10)
		for said := false; ; {
			k, err := says.Read(buf)
			kept += string(buf[:k])
			if !said && strings.Contains(kept, something) {
				said = true
				close(heard)
			}
			if kept = kept[max(0, len(kept)-len(something)):]; err != nil {
				return
			}
		}
	}()
	select {
	case <-heard:
	case <-time.After(2 * time.Minute):
		most = math.Inf(1) // it never said it
	}
	for range 10 {
		time.Sleep(time.Second)
		most = max(most, resident(cmd.Process.Pid))
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait() // it ends as told
	return most
}

// resident is the memory of a process in MB.
func resident(pid int) float64 {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status") // only Linux has it
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kB, _ := strconv.Atoi(strings.Fields(rest)[0])
			return float64(kB) / 1000
		}
	}
	return 0
}

// idle is what following 1,000 locks that nobody touches costs the server.
func (b *bench) idle() error {
	for _, way := range []struct {
		name    string
		args    []string
		without []inspect.Source
		most    float64
	}{
		{"tracking", nil, nil, 2},
		{"notifications", []string{"--notify-keyspace-events", "KEA"}, []inspect.Source{inspect.ByTracking}, 2},
		{"polling", nil, []inspect.Source{inspect.ByTracking, inspect.ByNotification}, 0},
	} {
		rate, err := b.idleRate(way.args, way.without)
		if err != nil {
			return err
		}
		if way.most > 0 {
			b.target("idle by "+way.name, rate, way.most, "commands/s")
		} else {
			figure("idle by "+way.name, rate, "commands/s, in round trips of 500 locks")
		}
	}
	return nil
}

func (b *bench) idleRate(args []string, without []inspect.Source) (float64, error) {
	s, err := start(args...)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	if err := s.locks(b.ctx, 1000); err != nil {
		return 0, err
	}
	f := inspect.New(s.node()).Follow(b.ctx, inspect.Query{}, inspect.FollowOptions{Without: without})
	defer f.Stop()
	for len(f.View().Rows) < 1000 || !f.View().Coverage.Complete {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(3 * time.Second)
	before, err := s.commands(b.ctx)
	if err != nil {
		return 0, err
	}
	time.Sleep(time.Duration(b.seconds) * time.Second)
	after, err := s.commands(b.ctx)
	return float64(after-before) / float64(b.seconds), err
}

// change is how long a change takes from the server to the list.
func (b *bench) change() error {
	for _, way := range []struct {
		name    string
		args    []string
		without []inspect.Source
	}{
		{"tracking", nil, nil},
		{"notifications", []string{"--notify-keyspace-events", "KEA"}, []inspect.Source{inspect.ByTracking}},
	} {
		took, err := b.changes(way.args, way.without, 500)
		if err != nil {
			return err
		}
		figure("change to list by "+way.name+", median", median(took), "ms")
		b.target("change to list by "+way.name+", p99", percentile(took, 99), 100, "ms")
	}
	return nil
}

func (b *bench) changes(args []string, without []inspect.Source, n int) ([]float64, error) {
	s, err := start(args...)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if err := s.locks(b.ctx, 1000); err != nil {
		return nil, err
	}
	f := inspect.New(s.node()).Follow(b.ctx, inspect.Query{}, inspect.FollowOptions{Without: without})
	defer f.Stop()
	for len(f.View().Rows) < 1000 || f.View().Nodes[0].Source == inspect.ByPolling {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(time.Second)
	var took []float64
	for i := range n {
		key := "lock:new:" + strconv.Itoa(i)
		began := time.Now()
		if err := s.c.Set(b.ctx, key, fmt.Sprintf("0b1c2d3e-4f50-4a6b-9c7d-%012d", i), time.Minute).Err(); err != nil {
			return nil, err
		}
		for !has(f, key) {
			select {
			case <-f.Changed():
			case <-time.After(5 * time.Second):
				return nil, fmt.Errorf("%s was not seen", key)
			}
		}
		took = append(took, float64(time.Since(began).Microseconds())/1000)
		time.Sleep(5 * time.Millisecond)
	}
	return took, nil
}

func has(f *inspect.Follower, key string) bool {
	for _, r := range f.View().Rows {
		if string(r.Key) == key {
			return true
		}
	}
	return false
}

// countdown is by how much the shown deadline is off, over near and far links.
func (b *bench) countdown() error {
	for _, link := range []struct{ there, back time.Duration }{{0, 0}, {50, 50}, {200, 200}, {20, 80}} {
		link.there, link.back = link.there*time.Millisecond, link.back*time.Millisecond
		off, err := b.countdownOff(link.there, link.back)
		if err != nil {
			return err
		}
		limit := 20 + float64((link.back-link.there).Abs().Milliseconds())/2
		b.target(fmt.Sprintf("countdown, %v there and %v back, p99 of %d", link.there, link.back, len(off)), percentile(off, 99), limit, "ms")
	}
	return nil
}

// countdownOff looks at 20 locks over each of 50 connections.
func (b *bench) countdownOff(there, back time.Duration) ([]float64, error) {
	s, err := start()
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if err := s.locks(b.ctx, 20); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	go relay(l, s.addr, there, back)
	var off []float64
	for range 50 {
		c := redis.NewClient(&redis.Options{
			Addr: l.Addr().String(), MaxRetries: -1, DisableIdentity: true, PipelinePoolSize: -1, ReadTimeout: 10 * time.Second,
		})
		locks, err := b.look(c, s.addr)
		if err != nil {
			return nil, err
		}
		for i := range locks {
			ms, err := s.c.Do(b.ctx, "pexpiretime", string(locks[i].Key)).Int64()
			if err != nil {
				return nil, err
			}
			d := locks[i].Deadline.Round(0).Sub(time.UnixMilli(ms)).Abs()
			off = append(off, float64(d.Microseconds())/1000)
		}
		_ = c.Close()
	}
	return off, nil
}

func (b *bench) look(c *redis.Client, addr string) ([]inspect.Lock, error) {
	in := inspect.New(inspect.Node{Addr: addr, Client: c})
	var locks []inspect.Lock
	_, err := in.Scan(b.ctx, inspect.Query{Depth: inspect.ByName}, func(p inspect.Progress) bool {
		locks = append(locks, p.Found...)
		return true
	})
	if err != nil {
		return nil, err
	}
	return in.Refresh(b.ctx, locks)
}

// relay hands connections on, late in either direction.
func relay(l net.Listener, addr string, there, back time.Duration) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		srv, err := net.Dial("tcp", addr)
		if err != nil {
			_ = client.Close()
			continue
		}
		go delayed(srv, client, there)
		go delayed(client, srv, back)
	}
}

// delayed copies what is read, each piece so much later.
func delayed(to, from net.Conn, by time.Duration) {
	type piece struct {
		data []byte
		due  time.Time
	}
	queue := make(chan piece, 1024)
	go func() {
		for p := range queue {
			time.Sleep(time.Until(p.due))
			_, _ = to.Write(p.data) // the reader learns of a closed connection
		}
		_ = to.Close()
	}()
	defer close(queue)
	for {
		buf := make([]byte, 32<<10)
		n, err := from.Read(buf)
		if n > 0 {
			queue <- piece{buf[:n], time.Now().Add(by)}
		}
		if err != nil {
			return
		}
	}
}
