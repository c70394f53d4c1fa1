package tui

import (
	"context"
	"io"
	"time"

	"fencepost/keymap"
	"fencepost/lockcore/audit"
	"fencepost/lockcore/inspect"
	"fencepost/tui/theme"
)

// Options is what a console needs from whoever starts it. Inspector, Theme,
// Keys, In and Out must be set.
type Options struct {
	Inspector *inspect.Inspector
	Query     inspect.Query
	Server    Server
	// Identify asks the server again what it is: after a connection was lost, its
	// role may be another. nil: Server is believed for ever.
	Identify func(context.Context) (Server, error)
	// Explain says something about a key to somebody who sees it for the first
	// time; the sandbox has that for its demos. nil: nothing.
	Explain func(key string) string
	Theme   theme.Theme
	Keys    keymap.Map
	In      io.Reader // nil: no keys are read
	Out     io.Writer
	Crash   *Crash        // takes panics; nil: Run makes one
	Timeout time.Duration // for each question to the server; 0: 5 s
	Lab     LabOptions    // where stories about locks are played
	// Audit is where every change is written down. nil: it cannot be written, so
	// that a guarded target refuses.
	Audit *audit.Log
	// Operator is who runs the console, as user@host: it stands beside a lock that
	// is put on hold.
	Operator string
}

// Server is what the header says of the target.
type Server struct {
	Name    string // as the operator named it: "127.0.0.1:6379", a profile
	Addr    string // host:port; "" where Name is that
	Role    string // master, replica
	Mode    string // single, cluster, sentinel
	Version string // of the server, as "redis 7.0.15"
	User    string
	DB      int
	Sandbox bool   // the Redis inside the program
	Env     string // the environment's name, as "prod"; "" when there is none
	// Guarded says that a release needs the target to be armed first: it is
	// production, or it may be, being neither loopback nor labelled.
	Guarded bool
	// ReadOnly, if not "", says why nothing may be changed.
	ReadOnly string
}

// defaultTimeout bounds a question to the server.
const defaultTimeout = 5 * time.Second

func (o Options) timeout() time.Duration {
	if o.Timeout > 0 {
		return o.Timeout
	}
	return defaultTimeout
}
