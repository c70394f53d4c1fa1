package inspect

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/push"

	"fencepost/lockcore/inspect/family"
)

// A feed is one connection of its own on which a server tells of changes: by
// client tracking, by keyspace notifications, or both. It is used once: when it
// fails, changes were missed, so it is not mended behind anybody's back.
//
// Client tracking in broadcast mode tells of every change to a key under a
// prefix, within a millisecond, and says nothing more. It works on RESP3, and
// on RESP2 when the connection redirects to itself; whether a server really
// does it is found out by trying. Measured on Redis 6.0 to 8.0, Valkey and
// KeyDB: a renewal by PEXPIRE is told, a failed SET NX is not, one write of any
// database is told in all, FLUSHDB of any database is one empty message, and an
// expiry is told when the server deletes the key, which may be minutes late.
type feed struct {
	hold   leash
	box    *inbox
	client *redis.Client
	ps     *redis.PubSub
	cancel context.CancelFunc
	ended  chan struct{}

	plan     feedPlan
	id       int64 // of the connection; 0 where the server does not say
	tracks   error // nil: tracking is on
	notifies error // nil: notifications are subscribed to
}

// feedPlan is what a feed is to tell.
type feedPlan struct {
	prefixes []string   // for tracking in broadcast mode; none: no tracking by this connection
	redirect bool       // other connections' tracking comes here
	patterns [][]string // of notification channels, each list tried in turn; none: no notifications
}

// invalidations is the channel on which RESP2 tells of tracked keys. With RESP3
// they come as pushes; subscribing puts the connection among those of which a
// server bounds what it keeps for a reader that has stopped.
const invalidations = "__redis__:invalidate"

// feedTimeout bounds every step of opening a feed.
const feedTimeout = 3 * time.Second

// errUsed keeps the client library from connecting again by itself.
var errUsed = errors.New("inspect: a feed connects once")

// errNothing says that a server lets nothing be followed.
var errNothing = errors.New("inspect: the server tells of no changes")

// openFeed connects and asks for what is planned. What the server refuses
// stands in the feed; the error is one of the connection.
func openFeed(ctx context.Context, n Node, plan feedPlan, box *inbox) (*feed, error) {
	f := &feed{box: box, plan: plan, tracks: errNothing, notifies: errNothing, ended: make(chan struct{})}
	f.client = n.another(f.options)
	if f.client.Options().Protocol != 2 { // RESP2 has no pushes
		err := f.client.RegisterPushNotificationHandler("invalidate", pushHandler(f.pushed), false)
		if err != nil {
			_ = f.client.Close() // nothing was sent on it
			return nil, err
		}
	}
	opening, done := context.WithTimeout(ctx, feedTimeout)
	defer done()
	defer context.AfterFunc(ctx, f.hold.cutAll)() // an end comes at once, also in the middle of this
	f.ps = f.client.Subscribe(opening)
	if err := f.subscribe(opening); err != nil {
		f.close()
		return nil, err
	}
	ctx, f.cancel = context.WithCancel(ctx)
	go f.receive(ctx)
	return f, nil
}

// options make a client of one connection.
func (f *feed) options(o *redis.Options) {
	var used atomic.Bool
	dial, greet := o.Dialer, o.OnConnect
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if used.Swap(true) {
			return nil, errUsed
		}
		return dial(ctx, network, addr)
	}
	f.hold.put(o)
	o.OnConnect = func(ctx context.Context, cn *redis.Conn) error {
		if greet != nil {
			if err := greet(ctx, cn); err != nil {
				return err
			}
		}
		return f.greet(ctx, cn)
	}
	ownClient(o, 1)
}

// greet switches tracking on, before anything is subscribed to.
func (f *feed) greet(ctx context.Context, cn *redis.Conn) error {
	if len(f.plan.prefixes) == 0 && !f.plan.redirect {
		return nil
	}
	id, err := cn.Do(ctx, "client", "id").Int64()
	if err != nil && !serverError(err) {
		return err
	}
	f.id = id
	if len(f.plan.prefixes) == 0 {
		return nil
	}
	redirect := int64(0)
	if !pushes(ctx, cn) {
		redirect = id // to itself: RESP2 would say OK to tracking without, and send nothing
	}
	err = cn.Do(ctx, trackArgs(redirect, f.plan.prefixes)...).Err()
	f.tracks = err
	if err != nil && !serverError(err) {
		return err
	}
	return nil
}

// pushes reports whether the connection speaks RESP3. The client library falls
// back to RESP2 without a word where a server does not.
func pushes(ctx context.Context, cn *redis.Conn) bool {
	reply, err := cn.Do(ctx, "hello").Result()
	if err != nil {
		return false
	}
	for _, p := range pairsOf(family.Hash, reply) {
		if p.A == "proto" {
			return p.B == "3"
		}
	}
	return false
}

// trackArgs is CLIENT TRACKING ON in broadcast mode; redirect 0 is none.
func trackArgs(redirect int64, prefixes []string) []any {
	args := []any{"client", "tracking", "on"}
	if redirect != 0 {
		args = append(args, "redirect", redirect)
	}
	args = append(args, "bcast")
	for _, p := range prefixes {
		args = append(args, "prefix", p)
	}
	return args
}

// subscribe opens the connection and waits until the server has answered.
func (f *feed) subscribe(ctx context.Context) error {
	err := f.ps.Subscribe(ctx, invalidations)
	if err != nil {
		return err
	}
	if err := f.confirm(ctx, 1); err != nil && !serverError(err) {
		return err
	} else if err != nil && f.plan.redirect {
		f.id = 0 // nowhere to send it to
	}
	for _, patterns := range f.plan.patterns {
		if err := f.ps.PSubscribe(ctx, patterns...); err != nil {
			return err
		}
		f.notifies = f.confirm(ctx, len(patterns))
		if !serverError(f.notifies) {
			return f.notifies
		}
	}
	return nil
}

// confirm waits for so many confirmations; what else comes meanwhile is kept.
func (f *feed) confirm(ctx context.Context, n int) error {
	for n > 0 {
		msg, err := f.ps.ReceiveTimeout(ctx, feedTimeout)
		if emptied(err) {
			f.box.flush()
			continue
		}
		if err != nil {
			return err
		}
		if _, ok := msg.(*redis.Subscription); ok {
			n--
			continue
		}
		f.take(msg)
	}
	return nil
}

// receive hands on what the server tells, until the connection ends. It reads
// without a time limit, since one that strikes within a message would leave the
// rest of it to be read as another; whether the server lives is found out by
// pinging it, and close ends the reading.
func (f *feed) receive(ctx context.Context) {
	defer close(f.ended)
	defer f.box.catch()
	for {
		msg, err := f.ps.Receive(ctx)
		switch {
		case emptied(err):
			f.box.flush()
		case serverError(err): // a refusal: nothing came of what was asked
		case err != nil:
			f.box.end(f, err)
			return
		default:
			f.take(msg)
		}
	}
}

// emptied reports whether the error is how the library shows RESP2's message
// that all keys are to be forgotten.
func emptied(err error) bool {
	return err != nil && strings.Contains(err.Error(), "pubsub message payload: <nil>")
}

// take files one message.
func (f *feed) take(msg any) {
	switch m := msg.(type) {
	case *redis.Pong:
		f.box.pong(m.Payload)
	case *redis.Message:
		if m.Channel != invalidations {
			f.box.notified(f, m.Channel, m.Payload)
			return
		}
		f.box.touch(m.PayloadSlice...)
	}
}

// pushed files what RESP3 pushes: the keys that changed, or nil for all.
func (f *feed) pushed(payload []any) {
	if len(payload) != 2 {
		return
	}
	keys, ok := payload[1].([]any)
	if !ok {
		f.box.flush()
		return
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = text(k)
	}
	f.box.touch(names...)
}

// pushHandler is a function that handles pushes.
type pushHandler func(payload []any)

// HandlePushNotification is called by whoever reads from the connection.
func (h pushHandler) HandlePushNotification(_ context.Context, _ push.NotificationHandlerContext, payload []any) error {
	h(payload)
	return nil
}

// ping asks for a sign of life; the answer carries the mark, and comes after
// all that was told before.
func (f *feed) ping(ctx context.Context, mark string) error {
	return f.ps.Ping(ctx, mark)
}

// close ends the feed and waits until nothing is left of it.
func (f *feed) close() {
	if f.cancel != nil {
		f.cancel()
	}
	f.hold.cutAll() // ends the reading
	_ = f.ps.Close()
	_ = f.client.Close()
	if f.cancel != nil {
		<-f.ended
	}
}
