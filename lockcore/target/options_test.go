package target

import (
	"errors"
	"fmt"
	"testing"
)

func TestUnder(t *testing.T) {
	profile := Options{URL: "redis://u:p@prod:7000/3", Env: "prod", ReadOnly: true, CACert: "/ca", TLS: true}
	for name, tc := range map[string]struct {
		flags Options
		check func(Options) bool
	}{
		"nothing given": {Options{}, func(o Options) bool {
			return o.URL == profile.URL && o.Env == "prod" && o.ReadOnly && o.CACert == "/ca"
		}},
		"another port":       {Options{Port: 1}, func(o Options) bool { return o.URL == profile.URL && o.Port == 1 }},
		"another url":        {Options{URL: "redis://h"}, func(o Options) bool { return o.URL == "redis://h" }},
		"a laxer env":        {Options{Env: "dev"}, func(o Options) bool { return o.Env == "prod" }},
		"read_only stays on": {Options{}, func(o Options) bool { return o.ReadOnly }},
	} {
		if got := tc.flags.Under(profile); !tc.check(got) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	lax := Options{Env: "dev", Host: "h", Port: 5, Addrs: []string{"a:1"}, SentinelMaster: "m"}
	if got := (Options{Env: "prod", ReadOnly: true}).Under(lax); got.Env != "prod" || !got.ReadOnly || got.Host != "h" {
		t.Errorf("a stricter env: %+v", got)
	}
	if got := (Options{Socket: "/s"}).Under(lax); got.Host != "" || got.Port != 0 || got.Addrs != nil || got.SentinelMaster != "" {
		t.Errorf("a socket keeps parts of another server: %+v", got)
	}
}

func TestGuarded(t *testing.T) {
	for _, tc := range []struct {
		env     string
		local   bool
		guarded bool
	}{{"", true, false}, {"", false, true}, {"dev", false, false}, {"prod", true, true}, {"Production", false, true}} {
		in := ServerInfo{Env: tc.env, Local: tc.local}
		if in.Guarded() != tc.guarded {
			t.Errorf("env %q, local %v: guarded %v", tc.env, tc.local, in.Guarded())
		}
	}
}

// What cannot go together is refused before anything is dialled.
func TestContradictions(t *testing.T) {
	for name, o := range map[string]Options{
		"socket and host":           {Socket: "/s", Host: "h"},
		"socket and tls":            {Socket: "/s", TLS: true},
		"socket and addr":           {Socket: "/s", Addrs: []string{"h:1"}},
		"url of a socket and tls":   {URL: "unix:///s", TLS: true},
		"cluster and single":        {Cluster: true, Single: true},
		"cluster and database":      {Cluster: true, DB: new(1)},
		"sentinel and cluster":      {SentinelMaster: "m", Cluster: true},
		"sentinel user alone":       {SentinelUser: "u"},
		"key without tls":           {Key: "f"},
		"cacert without tls":        {CACert: "f"},
		"sni without tls":           {SNI: "n"},
		"insecure without tls":      {Insecure: true},
		"key without cert":          {TLS: true, Key: "f"},
		"cert without key":          {TLS: true, Cert: "f"},
		"insecure and cacert":       {TLS: true, Insecure: true, CACert: "f"},
		"missing cacert":            {TLS: true, CACert: "/no/such/file"},
		"missing cert":              {TLS: true, Cert: "/no/such/file", Key: "/no/such/file"},
		"port out of range":         {Port: 70000},
		"negative database":         {DB: new(-1)},
		"host with a port":          {Host: "h:1"},
		"host that is a url":        {Host: "redis://h"},
		"addr without sense":        {Addrs: []string{"h:x"}},
		"addr with control":         {Addrs: []string{"\x1b[31m:1"}},
		"two sources of a password": {PasswordCommand: "c", PasswordFile: "f"},
	} {
		_, err := Open(t.Context(), o)
		var ue *UsageError
		if !errors.As(err, &ue) {
			t.Errorf("%s: %v, want a usage error", name, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, tc := range []struct {
		o    Options
		want string
	}{
		{Options{}, "[127.0.0.1:6379]"},
		{Options{Port: 7}, "[127.0.0.1:7]"},
		{Options{Host: "::1"}, "[[::1]:6379]"},
		{Options{Addrs: []string{"a", "b:2", "[::1]:3"}}, "[a:6379 b:2 [::1]:3]"},
		{Options{Host: "h", Addrs: []string{"a"}}, "[h:6379 a:6379]"},
		{Options{SentinelMaster: "m"}, "[127.0.0.1:26379]"},
		{Options{SentinelMaster: "m", Addrs: []string{"a", "b:1"}}, "[a:26379 b:1]"},
		{Options{URL: "redis://h:9", Port: 7}, "[h:7]"},
		{Options{URL: "redis://h:9", Host: "g"}, "[g:9]"},
		{Options{URL: "unix:///s", Host: "g"}, "[g:6379]"},
		{Options{URL: "redis://h", Socket: "/s"}, "[/s]"},
	} {
		p, err := resolve(tc.o)
		if err != nil || fmt.Sprint(p.addrs) != tc.want {
			t.Errorf("%+v: %v, %v; want %s", tc.o, p, err, tc.want)
		}
	}
}
