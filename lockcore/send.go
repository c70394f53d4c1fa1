package lockcore

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// once is a command that go-redis sends one time only. Sent again by itself, a
// request whose answer was lost would find the lock taken by its own first try;
// what an error means is decided here, where the token is known.
type once struct{ *redis.Cmd }

// NoRetry keeps go-redis from sending the command again.
func (once) NoRetry() bool { return true }

// errTimeout is the cause when a command's own time is over.
var errTimeout = errors.New("no answer in time")

// notSent is the error of a command that never left.
type notSent struct{ error }

func (e *notSent) Unwrap() error { return e.error }

// sender sends commands that their caller can leave at any moment. Such a one runs
// on a worker's goroutine, because go-redis notices neither a cancelled context
// nor, by default, a deadline while it reads.
type sender struct {
	rdb     redis.UniversalClient
	clock   clock
	workers workers
	limits  limits
	longest time.Duration // within which the client itself ends a command
}

func (s *sender) init(rdb redis.UniversalClient, c clock) {
	s.rdb, s.clock = rdb, c
	s.longest = longest(rdb)
}

// flight is one command under way, and the context of it.
type flight struct {
	caller   context.Context // for its values
	at       instant         // when it starts; zero: the clock is read then
	deadline time.Time
	quit     <-chan struct{} // closed: nobody waits for the answer any more

	rdb    redis.UniversalClient
	cmd    once
	source string                      // the script's text
	work   func(context.Context) error // instead of a command
	raw    *any                        // what the work brought back
	err    error
}

// value is the answer of a flight that ended well.
func (f *flight) value() any {
	if f.raw != nil {
		return *f.raw
	}
	return f.cmd.Val()
}

// Deadline is when the command's own time is over.
func (f *flight) Deadline() (time.Time, bool) { return f.deadline, true }

// Done is closed when nobody waits for the answer any more.
func (f *flight) Done() <-chan struct{} { return f.quit }

// Err says so.
func (f *flight) Err() error {
	select {
	case <-f.quit:
		return context.Canceled
	default:
		return nil
	}
}

// Value is the caller's, so that a trace goes on.
func (f *flight) Value(key any) any { return f.caller.Value(key) }

const verbSHA, verbText = "evalsha", "eval"

// script is one of wire's, with its SHA-1 ready to be sent.
type script struct {
	source string
	sha    any
}

func scriptOf(c wire.Call) *script {
	return &script{source: c.Script.Source, sha: c.Script.SHA}
}

// The scripts of an uncontended pair.
var (
	acquireScript = scriptOf(wire.Acquire{}.Call())
	unlockScript  = scriptOf(wire.Unlock(wire.Keys{}, "", 0, ""))
)

// scriptFlight is a script that is to be sent by its SHA-1, as args say, and by
// its text where the server does not know it (then nothing ran). Once it flies,
// args are not to be changed any more.
func (s *sender) scriptFlight(ctx context.Context, sc *script, args []any) *flight {
	f := &flight{caller: ctx, rdb: s.rdb, source: sc.source}
	f.cmd = once{redis.NewCmd(f, args...)}
	f.cmd.SetFirstKeyPos(3)
	return f
}

// script sends a script, and returns when the answer is there, when timeout is
// over, or when stop is closed: ctx.Done(), or nil. In the last two cases the
// command may have run, or may run later.
func (s *sender) script(ctx context.Context, stop <-chan struct{}, timeout time.Duration, sc *script, args []any) (any, error) {
	return s.scriptAt(ctx, instant{}, stop, timeout, sc, args)
}

// scriptAt is script for a caller that has just read the clock.
func (s *sender) scriptAt(ctx context.Context, at instant, stop <-chan struct{}, timeout time.Duration, sc *script, args []any) (any, error) {
	f := s.scriptFlight(ctx, sc, args)
	f.at = at
	if err := s.fly(f, stop, timeout); err != nil {
		return nil, err
	}
	return f.cmd.Val(), f.err
}

// call is script for a call that is not prepared.
func (s *sender) call(ctx context.Context, timeout time.Duration, c wire.Call) (any, error) {
	return s.script(ctx, ctx.Done(), timeout, scriptOf(c), argsOf(c))
}

// do runs any work in the same way. What the work leaves behind must be read
// only when the error is nil or the work's own.
func (s *sender) do(ctx context.Context, timeout time.Duration, work func(context.Context) error) error {
	f := &flight{caller: ctx, rdb: s.rdb, work: work}
	if err := s.fly(f, ctx.Done(), timeout); err != nil {
		return err
	}
	return f.err
}

// fly has a worker run the flight, and returns nil when it has ended, else why
// nobody waits for it any more.
func (s *sender) fly(f *flight, stop <-chan struct{}, timeout time.Duration) error {
	select {
	case <-stop:
		return &notSent{context.Cause(f.caller)}
	default:
	}
	if f.at == (instant{}) {
		f.at = s.clock.read()
	}
	if stop == nil && s.ends(f, timeout) {
		return s.direct(f, timeout)
	}
	w := s.workers.get()
	w.start(f, timeout, s.clock.time(f.at, timeout))
	return s.land(w, f, stop)
}

// land waits for a flight that was started.
func (s *sender) land(w *worker, f *flight, stop <-chan struct{}) error {
	select {
	case <-w.done:
		w.timer.Stop()
		s.workers.put(w)
		return nil
	case <-stop:
		w.leave()
		return context.Cause(f.caller)
	case <-w.timer.C:
		w.leave()
		return errTimeout
	}
}

func (f *flight) run() {
	if f.work != nil {
		f.err = f.work(f)
		return
	}
	f.err = f.rdb.Process(f, f.cmd)
	if isNoScript(f.err) {
		args := append([]any(nil), f.cmd.Args()...)
		args[0], args[1] = verbText, f.source
		f.cmd = once{redis.NewCmd(f, args...)}
		f.cmd.SetFirstKeyPos(3)
		f.err = f.rdb.Process(f, f.cmd)
	}
}

// argsOf is a call as go-redis takes it, the script by its SHA-1.
func argsOf(c wire.Call) []any {
	argv := c.ShaArgv()
	args := make([]any, len(argv))
	for i, a := range argv {
		args[i] = a
	}
	args[0] = verbSHA
	return args
}

func isNoScript(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT")
}

// outcome says what is known after an error. Where the server answered, even
// with an error, its script changed nothing: in our scripts what may fail stands
// before the change.
func outcome(err error) Outcome {
	var answered redis.Error
	var unsent *notSent
	var network *net.OpError
	var short *replicaError
	switch {
	case errors.As(err, &answered), errors.As(err, &unsent), errors.As(err, &short),
		errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrClosed),
		errors.As(err, &network) && network.Op == "dial":
		return Failed
	}
	return Unknown
}

// passing reports whether an error may be gone a moment later, so that whoever
// waits anyway should ask again.
func passing(err error) bool {
	var short *replicaError
	if errors.Is(err, redis.ErrClosed) || errors.As(err, &short) {
		return false
	}
	var answered redis.Error
	if !errors.As(err, &answered) {
		return true // the network
	}
	for _, word := range []string{
		"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS", "BUSY ", "max number of clients",
	} {
		if strings.Contains(err.Error(), word) {
			return true
		}
	}
	return false
}

// opError makes an error of the client or the server into one of lockcore.
func opError(op, name string, err error) error {
	text := err.Error()
	for _, word := range []string{"WRONGTYPE", "CORRUPT", "not an integer", "would overflow"} {
		if strings.Contains(text, word) {
			return &OpError{Op: op, Name: name, Err: &corruptError{err}}
		}
	}
	return &OpError{Op: op, Name: name, Outcome: outcome(err), Err: err}
}

// corruptError is what the server said of a key that is not ours.
type corruptError struct{ error }

func (e *corruptError) Error() string   { return ErrCorrupt.Error() + ": " + e.error.Error() }
func (e *corruptError) Unwrap() []error { return []error{ErrCorrupt, e.error} }
