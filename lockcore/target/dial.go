package target

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
)

// stage is how far a connection came before it failed.
type stage int

const (
	dialling   stage = iota // no connection
	handshake               // TLS
	firstReply              // the server's first words
)

// stageError says at which stage a connection failed.
type stageError struct {
	stage stage
	tls   bool
	err   error
}

func (e *stageError) Error() string { return e.err.Error() }
func (e *stageError) Unwrap() error { return e.err }

// dial connects. A read-only place lets only reading commands through.
func (p *place) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := p.connect(ctx, network, addr)
	if err == nil && p.readOnly {
		return gated(conn), nil
	}
	return conn, err
}

// connect connects, with TLS where the place asks for it.
func (p *place) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, &stageError{stage: dialling, err: err}
	}
	if p.tls == nil {
		return conn, nil
	}
	conf := p.tls.Clone()
	conf.ServerName = p.sni
	if conf.ServerName == "" {
		conf.ServerName, _, _ = net.SplitHostPort(addr)
	}
	secure := tls.Client(conn, conf)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // it is of no use
		return nil, &stageError{stage: handshake, tls: true, err: err}
	}
	return secure, nil
}

// knock connects once and hears the server's first words, so that what is
// wrong can be said exactly: the client library hides a refusal behind the
// error that follows it. The connection is closed again.
func (p *place) knock(ctx context.Context, addr string, l *login) (note string, local bool, err error) {
	err = p.visit(ctx, addr, func(s *speaker) error {
		var err error
		if note, err = l.authenticate(ctx, s); err != nil {
			return err
		}
		local = isLocal(s.conn.RemoteAddr())
		if err := s.ping(); err != nil || p.db == 0 {
			return err
		}
		// The client library passes a refused SELECT off as the answer to
		// whatever command came first.
		_, err = s.do("SELECT", strconv.Itoa(p.db))
		return err
	})
	return note, local, err
}

// visit runs f on a short connection and explains what failed.
func (p *place) visit(ctx context.Context, addr string, f func(*speaker) error) error {
	conn, err := p.dial(ctx, p.network, addr)
	if err != nil {
		return at(addr, explain(err))
	}
	defer conn.Close()
	if err := f(newSpeaker(conn, p.timeout)); err != nil {
		return at(addr, explain(&stageError{stage: firstReply, tls: p.tls != nil, err: err}, p.secrets()...))
	}
	return nil
}

// secrets are what has been sent to the server or the Sentinels so far.
func (p *place) secrets() []Secret {
	return []Secret{deref(p.login.sent.Load()), deref(p.sentinel.sent.Load())}
}

// ping asks for any answer. One that denies PING to this user is good enough.
func (s *speaker) ping() error {
	_, err := s.do("PING")
	var said serverError
	if errors.As(err, &said) && noPermission(string(said)) {
		return nil
	}
	return err
}

// isLocal reports whether the other end is on this machine.
func isLocal(addr net.Addr) bool {
	switch a := addr.(type) {
	case *net.UnixAddr:
		return true
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	}
	return false
}
