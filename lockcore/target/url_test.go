package target

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestParseURL(t *testing.T) {
	pass := func(s string) *Secret { p := Secret(s); return &p }
	db := func(n int) *int { return &n }
	for _, tc := range []struct {
		in   string
		want location
	}{
		{"redis://", location{}},
		{"redis://h", location{host: "h"}},
		{"REDIS://h:1/", location{host: "h", port: 1}},
		{"redis://:6380", location{port: 6380}},
		{"rediss://h:6380/3", location{tls: true, host: "h", port: 6380, db: db(3)}},
		{"valkeys://h?db=2", location{tls: true, host: "h", db: db(2)}},
		{"valkey://h/2?db=2", location{host: "h", db: db(2)}},
		{"redis://u:p@h:1/0", location{host: "h", port: 1, db: db(0), user: "u", password: pass("p")}},
		{"redis://:p@h", location{host: "h", password: pass("p")}},
		{"redis://u@h", location{host: "h", user: "u"}},
		{"redis://u:@h", location{host: "h", user: "u", password: pass("")}},
		{"redis://:p@ss:w@h", location{host: "h", password: pass("p@ss:w")}},
		{"redis://a%40b:%23%2F%25%3F%20%00@h", location{host: "h", user: "a@b", password: pass("#/%? \x00")}},
		{"redis://:пароль✓@h", location{host: "h", password: pass("пароль✓")}},
		{"redis://[::1]", location{host: "::1"}},
		{"redis://:p@[::1]:7000/1", location{host: "::1", port: 7000, db: db(1), password: pass("p")}},
		{"redis://[fe80::1%25eth0]:7000", location{host: "fe80::1%eth0", port: 7000}},
		{"unix:///run/redis.sock", location{socket: "/run/redis.sock"}},
		{"unix://u:p@/run/a%20b.sock?db=3", location{socket: "/run/a b.sock", db: db(3), user: "u", password: pass("p")}},
		{"unix:///run/x@y.sock", location{socket: "/run/x@y.sock"}},
	} {
		got, err := parseURL(Secret(tc.in))
		if err != nil {
			t.Errorf("%s: %v", tc.in, err)
			continue
		}
		if show(got) != show(tc.want) {
			t.Errorf("%s: got %s, want %s", tc.in, show(got), show(tc.want))
		}
	}
}

// show prints a location with its password, which plain printing hides.
func show(l location) string {
	p := "none"
	if l.password != nil {
		p = fmt.Sprintf("%q", string(*l.password))
	}
	return fmt.Sprintf("tls=%v socket=%q host=%q port=%d db=%d(%v) user=%q password=%s", l.tls, l.socket, l.host, l.port, deref(l.db), l.db != nil, l.user, p)
}

// Every password that is percent-encoded as RFC 3986 says arrives as it is.
func TestAnyPasswordArrives(t *testing.T) {
	for b := range 256 {
		want := "a" + string([]byte{byte(b)}) + "z"
		in := "redis://u:" + strings.ReplaceAll(url.QueryEscape(want), "+", "%20") + "@h:1/2"
		got, err := parseURL(Secret(in))
		if err != nil || got.password == nil || string(*got.password) != want {
			t.Errorf("byte %#x: %v, %v", b, got, err)
		}
	}
}

// badURLs are URLs that cannot be used, of every kind of mistake. Each holds
// the password s3cr.
var badURLs = []string{
	// B23: the parse error of a URL library prints all of it
	"redis://:s3cr%ZZet@127.0.0.1:1", "redis://:s3cret@127.0.0.1:1/0?foo=1", "s3cret@127.0.0.1:1",
	"redis://:s3cr#et@h:1", "redis://:s3cr/et@h:1", "redis://:s3cr?et@h:1", "redis://u:s3cr%@h",
	"redis://u:s3cr%2@h", "redis://s3cr%zz@h", "redis://:s3cret", "redis://u:s3cret", "redis://u:s3cr#et",
	"redis://:s3cret:6379", "redis://u:s3cret@h:port", "redis://u:s3cret@h:0", "redis://u:s3cret@h:70000",
	"redis://u:s3cret@h:1:2", "redis://u:s3cret@[::1", "redis://u:s3cret@[h]:1", "redis://u:s3cret@[::1]x",
	"redis://u:s3cret@h/s3cret", "redis://u:s3cret@h/-1", "redis://u:s3cret@h/1?db=2", "redis://u:s3cret@h?s3cret",
	"redis://u:s3cret@h?password=s3cret", "redis://u:s3cret@h?db=s3cret", "redis://u:s3cret@h#s3cret",
	"redis://u:s3cret@h h", "http://u:s3cret@h", "https://:s3cret@h", "s3cret://h", "ftp://u:s3cret@h",
	"redis:/u:s3cret@h", "redis:s3cret@h", "redis//u:s3cret@h", "//:s3cret@h", ":s3cret@h:1", "s3cret",
	"redis-sentinel://u:s3cret@h:1/mymaster", "unix://u:s3cret@", "unix://s3cret", "unix:///s3cr%zz",
	"unix://u:s3cr#et@/run/r.sock", "unix://u:s3cr?et@/run/r.sock", "unix:///run/r.sock?s3cret=1", "redis://u:s3cret\x00@h\n:1",
	"redis://\x1b[31ms3cret", "redis://u:s3cret@h:99999999999999999999", "redis://u:s3cret@h/99999999999999999999",
}

func TestNoSecretInTheErrorOfABadURL(t *testing.T) {
	for _, in := range badURLs {
		_, err := Open(context.Background(), Options{URL: Secret(in)})
		if err == nil {
			t.Errorf("%q was taken", in)
			continue
		}
		if !errors.As(err, new(*UsageError)) {
			t.Errorf("%q: %T, want a usage error", in, err)
		}
		if all := fmt.Sprintf("%v %+v %#v %q", err, err, err, err); strings.Contains(all, "s3cr") {
			t.Errorf("%q: the error holds the secret: %s", in, all)
		}
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	p := Secret("s3cret")
	o := Options{URL: "redis://:s3cret@h", Password: &p, EnvPassword: &p, SentinelPassword: p}
	all := fmt.Sprintf("%v %+v %#v %s %q %x %d %v", o, o, o, p, p, p, p, []Secret{p})
	text, err := p.MarshalText()
	if err != nil || strings.Contains(all+string(text), "s3cr") || strings.Contains(all, fmt.Sprintf("%x", "s3cr")) {
		t.Errorf("%s %s %v", all, text, err)
	}
}

func FuzzParseURLKeepsSecrets(f *testing.F) {
	for _, in := range badURLs {
		f.Add(strings.ReplaceAll(in, "s3cr", "\x00"))
	}
	f.Fuzz(func(t *testing.T, in string) {
		const marker = "Qz7Qz7Qz7"
		if _, err := parseURL(Secret(strings.ReplaceAll(in, "\x00", marker))); err != nil && strings.Contains(err.Error(), marker) {
			t.Errorf("%q: %v", in, err)
		}
	})
}
