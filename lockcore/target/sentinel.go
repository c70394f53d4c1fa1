package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"fencepost/lockcore/wire"
)

// askSentinels returns the master's address as the first Sentinel that answers
// gives it. The client library would ask too, but says of a wrong name only
// that the Sentinels are unreachable.
func (p *place) askSentinels(ctx context.Context) (string, error) {
	var first error
	for _, addr := range p.addrs {
		master, err := p.askSentinel(ctx, addr)
		if err == nil {
			return master, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

func (p *place) askSentinel(ctx context.Context, addr string) (master string, err error) {
	err = p.visit(ctx, addr, func(s *speaker) error {
		if _, err := p.sentinel.authenticate(ctx, s); err != nil {
			return err
		}
		reply, err := s.do("SENTINEL", "get-master-addr-by-name", p.master)
		if err != nil {
			return sentinelRefusal(err)
		}
		parts, _ := reply.([]any)
		if len(parts) != 2 {
			return unknownMaster(s)
		}
		master = net.JoinHostPort(fmt.Sprint(parts[0]), fmt.Sprint(parts[1]))
		if _, _, err := splitHostPort(master); err != nil {
			return &ConnectError{Text: "the Sentinel gives out an address that is none: " + wire.Clean(master)}
		}
		return nil
	})
	return master, err
}

func sentinelRefusal(err error) error {
	var said serverError
	switch {
	case !errors.As(err, &said):
		return err
	case strings.HasPrefix(string(said), "NOAUTH"):
		return &ConnectError{
			Auth: true, Text: "the Sentinel asks for a password",
			Hint: "set FENCEPOST_SENTINEL_AUTH, and --sentinel-user where it has users",
		}
	case strings.HasPrefix(string(said), "ERR unknown command"):
		return &ConnectError{
			Text: "this is not a Sentinel", Hint: "--addr HOST:PORT names the Sentinels, usually on port 26379; a server is given with -h and -p",
		}
	}
	return err
}

// unknownMaster says which names the Sentinel would have known.
func unknownMaster(s *speaker) error {
	e := &ConnectError{Text: "the Sentinel watches no master of this name"}
	if names := watched(s); len(names) > 0 {
		e.Hint = "it watches: " + strings.Join(names, ", ")
	}
	return e
}

// watched lists the masters' names that a Sentinel tells.
func watched(s *speaker) []string {
	reply, err := s.do("SENTINEL", "masters")
	if err != nil {
		return nil // the hint is left out
	}
	var names []string
	list, _ := reply.([]any)
	for _, m := range list {
		if name := pairs(m)["name"]; name != "" {
			names = append(names, wire.Escape(name))
		}
	}
	return names
}

// notAServer explains that a Sentinel was given where a server was expected.
func (p *place) notAServer(ctx context.Context, addr string) error {
	e := &ConnectError{Addr: addr, Text: "this is a Sentinel, which holds no keys", Hint: "name its master: --sentinel-master NAME"}
	_ = p.visit(ctx, addr, func(s *speaker) error { // without names the hint is shorter
		if _, err := p.login.authenticate(ctx, s); err != nil {
			return err
		}
		if names := watched(s); len(names) > 0 {
			e.Hint = fmt.Sprintf("name its master: --addr %s --sentinel-master %s", addr, strings.Join(names, " or "))
		}
		return nil
	})
	return e
}
