package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/inspect"
)

// server is a redis-server of this run.
type server struct {
	cmd  *exec.Cmd
	port string
	addr string
	dir  string
	c    *redis.Client
}

// start runs a server without persistence on a free port.
func start(args ...string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close() // its number was all that was wanted
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	own := []string{
		"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir,
		"--enable-debug-command", "yes", "--logfile", dir + "/log",
	}
	s := &server{port: port, addr: "127.0.0.1:" + port, dir: dir, cmd: exec.Command("redis-server", append(own, args...)...)}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.c = s.client()
	for range 200 {
		if s.c.Ping(context.Background()).Err() == nil {
			return s, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("redis-server does not answer")
}

// stop ends it, and waits.
func (s *server) stop() {
	_ = s.c.Close()
	_ = s.cmd.Process.Kill() // it has nothing to save
	_ = s.cmd.Wait()         // a killed process ends with an error
	_ = os.RemoveAll(s.dir)
}

func (s *server) client() *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: s.addr, MaxRetries: -1, ContextTimeoutEnabled: true, PoolSize: 4, PipelinePoolSize: -1,
		ReadTimeout: time.Minute, DisableIdentity: true,
	})
}

func (s *server) node() inspect.Node { return inspect.Node{Addr: s.addr, Client: s.c} }

// locks takes n locks that last an hour.
func (s *server) locks(ctx context.Context, n int) error {
	for from := 0; from < n; from += 1000 {
		_, err := s.c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := from; i < min(n, from+1000); i++ {
				p.Set(ctx, "lock:order:"+strconv.Itoa(i), fmt.Sprintf("5f3b1e62-9df1-4c5e-8a35-%012d", i), time.Hour)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// commands is how many commands the server has run, INFO aside.
func (s *server) commands(ctx context.Context) (int, error) {
	stats, err := s.c.Info(ctx, "commandstats").Result()
	total := 0
	for line := range strings.Lines(stats) {
		name, rest, ok := strings.Cut(line, ":calls=")
		if !ok || name == "cmdstat_info" {
			continue
		}
		n, _, _ := strings.Cut(rest, ",")
		calls, _ := strconv.Atoi(n)
		total += calls
	}
	return total, err
}

// processor is how many seconds the server has computed.
func (s *server) processor(ctx context.Context) (total float64, err error) {
	info, err := s.c.Info(ctx, "cpu").Result()
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_user" || name == "used_cpu_sys" {
			part, _ := strconv.ParseFloat(value, 64)
			total += part
		}
	}
	return total, err
}
