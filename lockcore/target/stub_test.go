package target

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// server starts a stub whose answers are looked up by a request's first words;
// what is not there is an unknown command, as Redis answers it.
func server(t *testing.T, answers map[string]string) Options {
	s := redistest.NewStub(t, func(argv []string) string {
		line := strings.ToUpper(strings.Join(argv, " "))
		for words := len(argv); words > 0; words-- {
			prefix := strings.ToUpper(strings.Join(argv[:words], " "))
			if a, ok := answers[prefix]; ok && strings.HasPrefix(line, prefix) {
				return a
			}
		}
		text := "-ERR unknown command `" + argv[0] + "`, with args beginning with: "
		for _, a := range argv[1:] {
			text += "`" + a + "`, "
		}
		return strings.NewReplacer("\r", " ", "\n", " ").Replace(text) + "\r\n"
	})
	return Options{Host: s.Host, Port: s.Port, Timeout: 5 * time.Second}
}

const aMoment = "*2\r\n$10\r\n1700000000\r\n$6\r\n500000\r\n"

func TestOtherServers(t *testing.T) {
	for name, tc := range map[string]struct {
		answers map[string]string
		version string
		role    string
		unknown []string
	}{
		"redis 5": {
			map[string]string{"PING": "+PONG\r\n", "INFO": redistest.Bulk("# Server\r\nredis_version:5.0.14\r\nredis_mode:standalone\r\nrole:master\r\n"), "TIME": aMoment},
			"5.0.14", Master, []string{"user: n/a (not on this server: ACL WHOAMI)"},
		},
		"valkey": {
			map[string]string{"PING": "+PONG\r\n", "INFO": redistest.Bulk("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.0\r\nserver_mode:standalone\r\nrole:slave\r\n"), "TIME": aMoment, "ACL WHOAMI": redistest.Bulk("default")},
			"valkey 8.1.0", Replica, nil,
		},
		"all is denied": {
			map[string]string{"PING": "-NOPERM no\r\n", "INFO": "-NOPERM no\r\n", "HELLO": "-NOPERM no\r\n", "ACL": "-NOPERM no\r\n", "TIME": "-NOPERM no\r\n"},
			"", "", []string{
				"memory, keyspace and replication: n/a (no permission: INFO)", "user: n/a (no permission: ACL WHOAMI)",
				"role: n/a (no permission: INFO, HELLO)", "clock offset: n/a (no permission: TIME)",
			},
		},
		"escapes in what it says of itself": {
			map[string]string{"PING": "+PONG\r\n", "INFO": redistest.Bulk("redis_version:\x1b[31m7\r\nrole:master\r\n"), "TIME": aMoment, "ACL WHOAMI": redistest.Bulk("\x1b]0;x\x07")},
			`\x1b[31m7`, Master, nil,
		},
	} {
		tg, err := Open(t.Context(), server(t, tc.answers))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		in := tg.Info
		if in.Version != tc.version || in.Role != tc.role || strings.Join(in.Unknown, "|") != strings.Join(tc.unknown, "|") {
			t.Errorf("%s: version %q, role %q, unknown %q", name, in.Version, in.Role, in.Unknown)
		}
		if strings.Contains(fmt.Sprint(in.Version, in.User, in.Unknown), "\x1b") {
			t.Errorf("%s: an escape sequence came through: %+v", name, in)
		}
		_ = tg.Close()
	}
}

// A server, or a proxy before it, that takes any AUTH and then works as the
// default user.
func TestAnotherUserThanAskedFor(t *testing.T) {
	o := server(t, map[string]string{"AUTH": "+OK\r\n", "PING": "+PONG\r\n", "ACL WHOAMI": redistest.Bulk("default"), "INFO": redistest.Bulk("role:master\r\n")})
	o.User, o.Password = "ops", secret("s3cret")
	refusedWith(t, o, "user default, not of the one that was asked for")
}

func TestBeforeUsers(t *testing.T) {
	o := server(t, map[string]string{"AUTH": "-ERR wrong number of arguments for 'auth' command\r\n", "PING": "+PONG\r\n"})
	o.User, o.Password = "ops", secret("s3cret")
	refusedWith(t, o, "no users", "leave out the user name")
}

// No refusal holds the password or the user's name as a server repeats them.
func TestServersThatRepeatWhatTheyGot(t *testing.T) {
	for name, auth := range map[string]string{
		"as an unknown command": "", "in words": "-ERR bad credentials s3cret for ops\r\n", "with a code": "-WRONGPASS s3cret is not it\r\n",
		"in protected mode": "-DENIED s3cret running in protected mode\r\n", "as a status": "+OK s3cret\r\n",
	} {
		answers := map[string]string{"PING": "-ERR s3cret\r\n"}
		if auth != "" {
			answers["AUTH"] = auth
		}
		for _, sentinel := range []bool{false, true} {
			o := server(t, answers)
			o.User, o.Password = "ops", secret("s3cret")
			if sentinel {
				o.Addrs, o.Host, o.Port = []string{fmt.Sprintf("127.0.0.1:%d", o.Port)}, "", 0
				o.SentinelMaster, o.SentinelPassword, o.Password = "m", "s3cret", nil
			}
			_, err := Open(t.Context(), o)
			if err == nil {
				t.Errorf("%s: opened", name)
			} else if all := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(all, "s3cret") {
				t.Errorf("%s (Sentinel: %v): %s", name, sentinel, all)
			}
		}
	}
}

// The Sentinels' password stays out of the errors of a client that lost them.
func TestSentinelPasswordAfterTheStart(t *testing.T) {
	m := redistest.Start(t)
	broken := make(chan struct{})
	stub := redistest.NewStub(t, func(argv []string) string {
		select {
		case <-broken:
			return "-ERR I do not take s3cret, with args beginning with: `s3cret`\r\n"
		default:
		}
		switch strings.ToUpper(argv[0]) {
		case "AUTH", "CLIENT", "HELLO":
			return "+OK\r\n"
		case "SENTINEL":
			if len(argv) == 3 && strings.EqualFold(argv[1], "get-master-addr-by-name") {
				return "*2\r\n" + redistest.Bulk(m.Host) + redistest.Bulk(fmt.Sprint(m.Port))
			}
			return "*0\r\n"
		}
		return "-ERR no\r\n"
	})
	tg, err := Open(t.Context(), Options{Addrs: []string{stub.Addr}, SentinelMaster: "m", SentinelPassword: "s3cret", Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tg.Close() })
	close(broken)
	m.Kill()
	m.Until("the client sees that its master is gone", func() bool {
		err := tg.Client.Get(t.Context(), "k").Err()
		if err != nil && strings.Contains(fmt.Sprintf("%v %+v", err, err), "s3cr") {
			t.Fatalf("the error holds the secret: %v", err)
		}
		return err != nil && strings.Contains(err.Error(), "no master from the Sentinels")
	})
}

// A server that was restarted is reached again by the next command, though the
// client sends nothing twice.
func TestReconnect(t *testing.T) {
	for _, ro := range []bool{false, true} {
		s := redistest.Start(t)
		o := on(s)
		o.ReadOnly = ro
		tg := mustOpen(t, o)
		s.Kill()
		if err := tg.Client.Ping(t.Context()).Err(); err == nil {
			t.Error("a killed server answers")
		}
		s.Restart()
		if err := tg.Client.Ping(t.Context()).Err(); err != nil {
			t.Errorf("read-only %v: after the restart: %v", ro, err)
		}
	}
}

// Every call ends in time, with a deadline of its own or without.
func TestEveryCallHasADeadline(t *testing.T) {
	s := redistest.Start(t)
	o := on(s)
	o.Timeout = 300 * time.Millisecond
	tg := mustOpen(t, o)
	s.Pause()
	start := time.Now()
	for range 2 {
		if err := tg.Client.Get(t.Context(), "k").Err(); err == nil {
			t.Error("a paused server answered")
		}
		if _, err := tg.Masters(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("two calls took %v", took)
	}
}
