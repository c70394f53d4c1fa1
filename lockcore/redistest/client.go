package redistest

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Client returns a client of this server that sends every command once and is
// closed with the test. It gives up after ten seconds.
func (s *Server) Client() *redis.Client {
	c := s.newClient()
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *Server) newClient() *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: s.Addr, Password: s.pass, TLSConfig: s.tls,
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
		ReadTimeout: 10 * time.Second, PipelinePoolSize: -1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// Do sends one command and returns its reply: string, int64, []any, map, nil.
// An error fails the test.
func (s *Server) Do(args ...any) any {
	s.t.Helper()
	v, err := s.Try(args...)
	if err != nil {
		s.t.Fatalf("redistest: %v: %v", args, err)
	}
	return v
}

// Try is Do for a command that may be refused.
func (s *Server) Try(args ...any) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	v, err := s.own().Do(ctx, args...).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return v, err
}

// own returns the client that Do and Try share.
func (s *Server) own() *redis.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		s.client = s.newClient()
	}
	return s.client
}

// forget closes that client: its connections are dead.
func (s *Server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		_ = s.client.Close()
		s.client = nil
	}
}
