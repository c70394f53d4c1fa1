package target

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// login is who connects, and where the password comes from.
type login struct {
	user     string
	fromURL  bool    // the user name stood in a URL, without a password
	password *Secret // nil: command, file, or none
	command  string
	file     string
	timeout  time.Duration

	sent atomic.Pointer[Secret] // the password that was sent last
}

// login chooses the password: --askpass, -a, the URL, the profile's command or
// file, REDISCLI_AUTH. A user name without any asks on the terminal; without a
// terminal an empty password is sent for it, since sending none would make the
// connection one of the default user.
func (o *Options) login(loc location) (*login, error) {
	l := &login{user: o.User, timeout: o.timeout()}
	if l.user == "" {
		l.user, l.fromURL = loc.user, loc.user != "" && loc.password == nil
	}
	switch {
	case o.AskPass:
		if o.Ask == nil {
			return l, usage("--askpass needs a terminal: use REDISCLI_AUTH, or password_command in a profile")
		}
	case o.Password != nil:
		l.password = o.Password
		return l, nil
	case loc.password != nil:
		l.password = loc.password
		return l, nil
	case o.PasswordCommand != "" && o.PasswordFile != "":
		return l, usage("the profile has password_command and password_file; keep one")
	case o.PasswordCommand != "" || o.PasswordFile != "":
		l.command, l.file = o.PasswordCommand, o.PasswordFile
		return l, nil
	case o.EnvPassword != nil:
		l.password = o.EnvPassword
		return l, nil
	case l.user == "":
		return l, nil
	case o.Ask == nil:
		empty := Secret("")
		l.password = &empty
		return l, nil
	}
	asked, err := o.Ask("Password: ")
	if err != nil {
		return l, usage("no password was read from the terminal")
	}
	l.password = &asked
	return l, nil
}

// secret returns the password of one connection; nil when there is none.
func (l *login) secret(ctx context.Context) (*Secret, error) {
	switch {
	case l.command != "":
		return runForSecret(ctx, l.command)
	case l.file != "":
		text, err := os.ReadFile(l.file)
		if err != nil {
			return nil, &ConnectError{Text: "password_file: " + fileProblem(err)}
		}
		return firstLine(text), nil
	}
	return l.password, nil
}

// commandTimeout is for password managers that ask their owner first.
const commandTimeout = 30 * time.Second

func runForSecret(ctx context.Context, command string) (*Secret, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.WaitDelay = time.Second // for children that keep the pipe open
	out, err := cmd.Output()
	if err != nil {
		why := err.Error()
		if ctx.Err() != nil {
			why = "it ran for more than " + commandTimeout.String()
		}
		return nil, &ConnectError{Text: "password_command failed: " + why, Hint: "run it by hand to see what it says"}
	}
	return firstLine(out), nil
}

// firstLine drops the line end that editors and commands add.
func firstLine(text []byte) *Secret {
	s := Secret(strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"))
	return &s
}

// hook authenticates every connection of a client before anything else is sent
// on it. go-redis does not do that itself with an empty password: it would
// leave the connection to the default user.
func (l *login) hook() redis.Hook { return loginHook{l} }

type loginHook struct{ *login }

// DialHook authenticates the new connection.
func (h loginHook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		s := newSpeaker(conn, h.timeout)
		_, err = h.authenticate(ctx, s)
		if err == nil && s.r.Buffered() > 0 {
			err = errNotRedis // nothing was asked that this could answer
		}
		if err != nil {
			_ = conn.Close() // it is not to be used
			return nil, at(addr, explain(err, deref(h.sent.Load())))
		}
		return conn, nil
	}
}

// ProcessHook leaves commands as they are.
func (h loginHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook leaves pipelines as they are.
func (h loginHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// authenticate sends AUTH where there is a password. note is what the operator
// should know though it went well.
func (l *login) authenticate(ctx context.Context, s *speaker) (note string, err error) {
	pass, err := l.secret(ctx)
	if err != nil || pass == nil {
		return "", err
	}
	l.sent.Store(pass)
	args := []string{"AUTH", string(*pass)}
	if l.user != "" {
		args = []string{"AUTH", l.user, string(*pass)}
	}
	_, err = s.do(args...)
	var said serverError
	if err == nil || !errors.As(err, &said) {
		return "", err
	}
	return l.refused(string(said), *pass)
}

// refused puts the server's refusal into words of our own: the server's may
// hold what was sent.
func (l *login) refused(said string, pass Secret) (note string, err error) {
	e := &ConnectError{Auth: true}
	switch {
	case strings.HasPrefix(said, "WRONGPASS") && l.fromURL:
		e.Text = "the server knows no such user with an empty password"
		e.Hint = "redis://NAME@host gives a user name; a password alone is written redis://:PASSWORD@host"
	case strings.HasPrefix(said, "WRONGPASS") && l.user == "":
		e.Text = "wrong password for the default user"
		e.Hint = "for another one add --user NAME"
	case strings.HasPrefix(said, "WRONGPASS") && pass == "":
		e.Text = "no password was given, and the server wants one of this user, or knows no such user, or it is off"
		e.Hint = "--askpass asks for it; REDISCLI_AUTH, a profile or the URL can hold it"
	case strings.HasPrefix(said, "WRONGPASS"), strings.HasPrefix(said, "ERR invalid password"):
		e.Text = "wrong user name or password, or the user is off"
	case noPasswordSet(said) && l.user == "":
		return "the server asks for no password; the one that was given was not used", nil
	case strings.HasPrefix(said, "ERR wrong number of arguments"):
		e.Text = "the server has no users, as before Redis 6"
		e.Hint = "leave out the user name"
	default:
		return "", l.other(said, pass)
	}
	return "", e
}

func noPasswordSet(said string) bool {
	return strings.HasPrefix(said, "ERR Client sent AUTH, but no password is set") ||
		strings.HasPrefix(said, "ERR AUTH <password> called without any password configured")
}

// other is for refusals that have nothing to do with the password: protected
// mode, too many clients.
func (l *login) other(said string, pass Secret) error {
	e := refusal(scrub(said, pass))
	e.Auth = !strings.HasPrefix(said, "DENIED") && !strings.HasPrefix(said, "ERR max")
	return e
}
