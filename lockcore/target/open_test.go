package target

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// on returns the options of a server.
func on(s *redistest.Server) Options {
	return Options{Host: s.Host, Port: s.Port, Timeout: 5 * time.Second}
}

func secret(s string) *Secret { p := Secret(s); return &p }

func mustOpen(t *testing.T, o Options) *Target {
	t.Helper()
	tg, err := Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = tg.Close() })
	if err := tg.Client.Set(t.Context(), "{probe}", "v", time.Minute).Err(); err != nil && !errors.Is(err, ErrReadOnly) {
		t.Fatalf("the client does not work: %v", err)
	}
	return tg
}

// refusedWith opens in vain and checks that the error says why and how to go
// on, within the time that one step has.
func refusedWith(t *testing.T, o Options, words ...string) {
	t.Helper()
	_ = refusalOf(t, o, words...)
}

func refusalOf(t *testing.T, o Options, words ...string) *ConnectError {
	t.Helper()
	start := time.Now()
	tg, err := Open(t.Context(), o)
	if err == nil {
		_ = tg.Close()
		t.Fatalf("opened, want an error with %q", words)
	}
	var ce *ConnectError
	if !errors.As(err, &ce) {
		t.Fatalf("%T %v, want a ConnectError", err, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
	if took := time.Since(start); took > o.timeout()+5*time.Second {
		t.Errorf("took %v", took)
	}
	return ce
}

func TestOpenPlain(t *testing.T) {
	s := redistest.Start(t)
	tg := mustOpen(t, on(s))
	in := tg.Info
	if in.Addr != s.Addr || in.Mode != Single || in.Role != Master || in.User != "default" || !in.Local || in.Nodes != 1 {
		t.Errorf("info = %+v", in)
	}
	if in.Version == "" || in.Version != in.Fields["redis_version"] {
		t.Errorf("version %q, INFO says %q", in.Version, in.Fields["redis_version"])
	}
	if !in.HasTime || in.TimeOffset.Abs() > time.Second || in.TimeUncertainty > time.Second {
		t.Errorf("clock offset %v ± %v on the same machine", in.TimeOffset, in.TimeUncertainty)
	}
	if len(in.Unknown) > 0 || len(tg.Warnings) > 0 || tg.Guarded() {
		t.Errorf("unknown %q, warnings %q, guarded %v", in.Unknown, tg.Warnings, tg.Guarded())
	}
	nodes, err := tg.Masters(t.Context())
	if err != nil || len(nodes) != 1 || nodes[0].Addr != s.Addr {
		t.Errorf("masters = %v, %v", nodes, err)
	}
	if list := fmt.Sprint(s.Do("CLIENT", "LIST")); !strings.Contains(list, "name=fencepost") {
		t.Errorf("the connection has no name in CLIENT LIST:\n%s", list)
	}
}

func TestOpenDatabase(t *testing.T) {
	s := redistest.Start(t)
	s.Do("SET", "zero", "v")
	for name, o := range map[string]Options{
		"flag":            {Host: s.Host, Port: s.Port, DB: new(5)},
		"url":             {URL: Secret("redis://" + s.Addr + "/5")},
		"flag over url":   {URL: Secret("redis://" + s.Addr + "/7"), DB: new(5)},
		"port over url":   {URL: "redis://127.0.0.1:1/5", Port: s.Port},
		"valkey scheme":   {URL: Secret("valkey://" + s.Addr + "?db=5")},
		"under a profile": (Options{DB: new(5)}).Under(Options{URL: Secret("redis://" + s.Addr + "/7")}),
	} {
		tg := mustOpen(t, o)
		if n := tg.Client.DBSize(t.Context()).Val(); n != 1 {
			t.Errorf("%s: DBSIZE %d", name, n)
		}
		if dbs := tg.Info.OtherDBs(5); !slices.Equal(dbs, []int{0}) {
			t.Errorf("%s: other databases %v", name, dbs)
		}
	}
	refusedWith(t, Options{Host: s.Host, Port: s.Port, DB: new(99)}, "no database of this number")
}

func TestOpenSocketAndIPv6(t *testing.T) {
	dir, err := os.MkdirTemp("", "fp") // the path of a socket may have 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	sock := filepath.Join(dir, "r.sock")
	s := redistest.Start(t, "--unixsocket", sock, "--bind", "127.0.0.1", "-::1")
	for _, o := range []Options{{Socket: sock}, {URL: Secret("unix://" + sock + "?db=2")}} {
		tg := mustOpen(t, o)
		if tg.Info.Addr != sock || !tg.Info.Local || tg.Guarded() {
			t.Errorf("info = %+v", tg.Info)
		}
	}
	refusedWith(t, Options{Socket: sock + "x"}, "no such socket")

	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Log("no IPv6 loopback here; that part is not tested")
		return
	}
	_ = l.Close()
	six := fmt.Sprintf("[::1]:%d", s.Port)
	for _, o := range []Options{{Host: "::1", Port: s.Port}, {URL: Secret("redis://" + six)}} {
		if tg := mustOpen(t, o); tg.Info.Addr != six || !tg.Info.Local {
			t.Errorf("info = %+v", tg.Info)
		}
	}
}

func TestOpenTLS(t *testing.T) {
	s, certs := redistest.StartTLS(t)
	full := on(s)
	full.TLS, full.CACert, full.Cert, full.Key = true, certs.CA, certs.Cert, certs.Key
	with := func(change func(*Options)) Options { o := full; change(&o); return o }

	mustOpen(t, full)
	mustOpen(t, with(func(o *Options) { o.TLS, o.Host, o.Port, o.URL = false, "", 0, Secret("rediss://"+s.Addr) }))
	mustOpen(t, with(func(o *Options) { o.SNI = redistest.TLSName }))
	insecure := mustOpen(t, with(func(o *Options) { o.CACert, o.Insecure = "", true }))
	if len(insecure.Warnings) != 1 || !strings.Contains(insecure.Warnings[0], "--insecure") {
		t.Errorf("warnings %q", insecure.Warnings)
	}
	refusedWith(t, with(func(o *Options) { o.SNI = "other.test" }), "another name", "--sni")
	refusedWith(t, with(func(o *Options) { o.CACert = "" }), "authority", "--cacert")
	refusedWith(t, with(func(o *Options) { o.Cert, o.Key = "", "" }), "wants a client certificate", "--cert")
	refusedWith(t, on(s), "hung up", "--tls") // plain to a TLS port
	other, _ := redistest.StartTLS(t)
	refusedWith(t, with(func(o *Options) { o.Port = other.Port }), "authority", "--cacert")

	plain := redistest.Start(t) // TLS to a plain port
	refusedWith(t, with(func(o *Options) { o.Port, o.Timeout = plain.Port, time.Second }), "answer in TLS", "leave out --tls")
}

// B10: a user without @dangerous can do the whole job; what it may not know is
// said once.
func TestOpenWithoutDangerous(t *testing.T) {
	s := redistest.Start(t)
	s.Do("ACL", "SETUSER", "op", "on", ">pw", "~*", "&*", "+@all", "-@dangerous")
	o := on(s)
	o.User, o.Password = "op", secret("pw")
	tg := mustOpen(t, o)
	in := tg.Info
	if in.User != "op" || in.Version == "" || in.Role != Master || in.Mode != Single || !in.HasTime {
		t.Errorf("info = %+v", in)
	}
	if n := strings.Count(strings.Join(in.Unknown, "\n"), "n/a (no permission: INFO)"); n != 1 || len(in.Unknown) != 1 {
		t.Errorf("unknown = %q", in.Unknown)
	}
}

// A user may have next to nothing, and the connection stands all the same.
func TestOpenWithNextToNothing(t *testing.T) {
	s := redistest.Start(t)
	for name, rules := range map[string][]any{
		"read only":      {"+@read"},
		"one command":    {"+get"},
		"nothing at all": {"-@all"},
	} {
		s.Do(append([]any{"ACL", "SETUSER", "u", "reset", "on", ">pw", "~*"}, rules...)...)
		o := on(s)
		o.User, o.Password = "u", secret("pw")
		tg, err := Open(t.Context(), o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, u := range tg.Info.Unknown {
			if strings.Count(strings.Join(tg.Info.Unknown, "\n"), u) != 1 || !strings.Contains(u, "n/a (no permission: ") {
				t.Errorf("%s: unknown %q", name, tg.Info.Unknown)
			}
		}
		if len(tg.Info.Unknown) == 0 {
			t.Errorf("%s: nothing is unknown", name)
		}
		_ = tg.Close()
	}
}

// B15: a user name without a password never becomes the default user.
func TestUserWithoutPassword(t *testing.T) {
	s := redistest.Start(t)
	s.Do("ACL", "SETUSER", "ops", "on", ">pw", "~*", "+@all")
	s.Do("ACL", "SETUSER", "free", "on", "nopass", "~*", "+@all")

	for name, o := range map[string]Options{
		"flag":  {Host: s.Host, Port: s.Port, User: "ops"},
		"url":   {URL: Secret("redis://ops@" + s.Addr)},
		"wrong": {Host: s.Host, Port: s.Port, User: "ops", Password: secret("wrong")},
		"db":    {URL: Secret("redis://ops@" + s.Addr + "/3")},
	} {
		if ce := refusalOf(t, o); !ce.Auth {
			t.Errorf("%s: %v is not marked as one of authentication", name, ce)
		}
	}
	for _, o := range []Options{{URL: Secret("redis://free@" + s.Addr + "/2")}, {Host: s.Host, Port: s.Port, User: "free", Password: secret("any")}} {
		tg := mustOpen(t, o)
		if tg.Info.User != "free" {
			t.Errorf("the connection is one of %q", tg.Info.User)
		}
		if who := tg.Client.Do(t.Context(), "ACL", "WHOAMI").Val(); who != "free" {
			t.Errorf("ACL WHOAMI = %v", who)
		}
	}
	asked := 0
	o := Options{URL: Secret("redis://ops@" + s.Addr), Ask: func(string) (Secret, error) { asked++; return "pw", nil }}
	if tg := mustOpen(t, o); tg.Info.User != "ops" || asked != 1 {
		t.Errorf("user %q, asked %d times", tg.Info.User, asked)
	}
	// also when every pooled connection is new, and the default user is off
	s.Do("ACL", "SETUSER", "admin", "on", ">pw", "~*", "+@all")
	o = on(s)
	o.User = "free"
	tg := mustOpen(t, o)
	s.Do("CLIENT", "KILL", "TYPE", "normal")
	if who := tg.Client.Do(t.Context(), "ACL", "WHOAMI").Val(); who != "free" && who != nil {
		t.Errorf("after a reconnect: %v", who)
	}
}

func TestPasswordOrder(t *testing.T) {
	s := redistest.Start(t, "--requirepass", "right")
	dir := t.TempDir()
	file := filepath.Join(dir, "pw")
	if err := os.WriteFile(file, []byte("right\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	right := func(string) (Secret, error) { return "right", nil }
	url := func(pw string) Secret { return Secret("redis://:" + pw + "@" + s.Addr) }
	for name, o := range map[string]Options{
		"askpass first": {AskPass: true, Ask: right, Password: secret("x"), URL: url("x"), EnvPassword: secret("x")},
		"then -a":       {Password: secret("right"), URL: url("x"), PasswordCommand: "echo x", EnvPassword: secret("x")},
		"then the url":  {URL: url("right"), PasswordCommand: "echo x", EnvPassword: secret("x")},
		"then command":  {PasswordCommand: "printf 'right\\n'", EnvPassword: secret("x")},
		"or file":       {PasswordFile: file, EnvPassword: secret("x")},
		"then the env":  {EnvPassword: secret("right")},
	} {
		t.Run(name, func(t *testing.T) {
			if o.URL == "" {
				o.Host, o.Port = s.Host, s.Port
			}
			if tg := mustOpen(t, o); tg.Info.User != "default" {
				t.Errorf("user %q", tg.Info.User)
			}
		})
	}
	refusedWith(t, on(s), "asks for a password", "REDISCLI_AUTH")
	o := on(s)
	o.PasswordCommand = "echo s3cret >&2; exit 3"
	if ce := refusalOf(t, o, "password_command failed", "exit status 3"); strings.Contains(fmt.Sprintf("%+v", ce), "s3cr") {
		t.Errorf("the error repeats what the command said: %v", ce)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	o = on(s)
	o.PasswordFile = file
	if tg := mustOpen(t, o); len(tg.Warnings) != 1 || !strings.Contains(tg.Warnings[0], "read by others") {
		t.Errorf("warnings %q", tg.Warnings)
	}
	// a password where none is needed is no error, but is said
	o = on(redistest.Start(t))
	o.EnvPassword = secret("s3cret")
	if tg := mustOpen(t, o); len(tg.Warnings) != 1 || !strings.Contains(tg.Warnings[0], "asks for no password") {
		t.Errorf("warnings %q", tg.Warnings)
	}
}

// What a server answers to AUTH may repeat the password.
func TestNoSecretInAnyRefusal(t *testing.T) {
	renamed := redistest.Start(t, "--rename-command", "AUTH", "NOAUTHHERE")
	normal := redistest.Start(t)
	for _, pw := range []string{"s3cret", "s3cr et", "s3cr'et", "s3cr\r\net", "s3cr\x00et", "-s3cret"} {
		for _, s := range []*redistest.Server{renamed, normal} {
			for _, user := range []string{"", "u"} {
				o := on(s)
				o.User, o.Password = user, secret(pw)
				tg, err := Open(t.Context(), o)
				if err == nil {
					_ = tg.Close() // the default user needs none
					continue
				}
				if all := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(all, "s3cr") {
					t.Errorf("%q as %q: %s", pw, user, all)
				}
			}
		}
	}
}

func TestOpenInVain(t *testing.T) {
	short := 300 * time.Millisecond
	refusedWith(t, Options{Port: redistest.FreePort(t)}, "connection refused", "does Redis run there")
	refusedWith(t, Options{Host: "no-such-host.invalid", Timeout: short})

	answer := func(text string) Options {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Write([]byte(text))
				if text != "" {
					time.Sleep(20 * time.Millisecond) // so that the client reads before the reset
					_ = conn.Close()
				}
			}
		}()
		return Options{Port: l.Addr().(*net.TCPAddr).Port}
	}
	mute := answer("")
	mute.Timeout = short
	refusedWith(t, mute, "said nothing in time")
	tls := mute
	tls.TLS = true
	refusedWith(t, tls, "in TLS in time", "leave out --tls")
	refusedWith(t, answer("HTTP/1.1 400 Bad Request\r\n\r\n"), "does not speak as Redis")
	refusedWith(t, answer("\x15\x03\x03\x00\x02\x02\x46"), "does not speak as Redis", "--tls")
	refusedWith(t, answer("-DENIED Redis is running in protected mode because protected mode is enabled and\r\n"), "protected mode")
	refusedWith(t, answer("-ERR max number of clients reached\r\n"), "maxclients")
	refusedWith(t, answer("-LOADING Redis is loading the dataset in memory\r\n"), "loading")
	refusedWith(t, answer("-ERR \x1b[31mred\x1b]0;title\x07\r\n"), `\x1b[31mred`)
	refusedWith(t, answer("$999999999999\r\n"), "does not speak as Redis")

	paused := redistest.Start(t)
	paused.Pause()
	o := on(paused)
	o.Timeout = short
	refusedWith(t, o, "said nothing in time")
}
