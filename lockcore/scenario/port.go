package scenario

import (
	"context"
	"errors"
	"time"

	"fencepost/lockcore/wire"
)

// Port is all that the engine knows of Redis and of time. Its nodes have names:
// NodeLock, NodeStore, NodeReplica, "R1" to "R5" for the masters of a quorum,
// and NodeClosed, where nothing listens.
type Port interface {
	// Do sends one command to a node, or several as one transaction, and returns
	// a reply for each: string, int64, nil, []any, or an error that Redis
	// answered. The error of Do itself means that there was no answer.
	Do(ctx context.Context, node string, calls ...wire.Call) ([]any, error)
	// Subscribe listens on a channel, and returns when Redis has confirmed it.
	// next returns the next message, waiting a moment for one that is on its way.
	Subscribe(ctx context.Context, node, channel string) (next func() (string, bool), cancel func(), err error)
	// Now is the virtual time since the story began.
	Now() time.Duration
	// Sleep lets virtual time pass until then.
	Sleep(ctx context.Context, until time.Duration) error
}

// Warped is a Port whose leases are shorter in reality than in the story.
type Warped interface {
	// Short is the real length of a virtual one.
	Short(virtual time.Duration) time.Duration
	// Left is the virtual time for which a key will live, given the PTTL, in
	// milliseconds, that was measured.
	Left(node, key string, pttl int64) time.Duration
	// Net is where the lab's own expiry begins: a PTTL of that many milliseconds
	// or more is not an actor's, the key has none of its own.
	Net() int64
}

// Servers is a Port that can also do to a server what happens to servers. A
// Port on somebody else's Redis is not one.
type Servers interface {
	Stop(ctx context.Context, node string) error  // the process ends
	Start(ctx context.Context, node string) error // it comes back, empty
	// Detach cuts the replica off; from here on it hears of nothing.
	Detach(ctx context.Context) error
	// Promote makes the replica the server that NodeLock names.
	Promote(ctx context.Context) error
	// Fill fills the memory under an eviction policy until key is thrown out,
	// and reports whether it was.
	Fill(ctx context.Context, policy, key string) (evicted bool, err error)
	// Shift moves a server's clock.
	Shift(ctx context.Context, by time.Duration) error
	// Emulated reports whether the server only plays the part of one that can
	// do this: "stop", "replica", "fill" or "clock".
	Emulated(what string) bool
}

// The nodes of a Port.
const (
	NodeLock    = "redis"
	NodeStore   = "store"
	NodeReplica = "replica"
	NodeClosed  = "closed"
)

// ErrNeedsServers says that a story does to a server what the lab does only to
// servers of its own.
var ErrNeedsServers = errors.New("scenario: this story stops, fills or turns back a server, so it runs in the sandbox or on servers that the lab starts itself, never on a chosen Redis")
