package target

import (
	"crypto/tls"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// place is where to connect and how, after flags, URL and defaults have been
// put together.
type place struct {
	network string   // "tcp" or "unix"
	addrs   []string // the server; the seeds of a Cluster; the Sentinels
	master  string   // at the Sentinels; "" without
	db      int
	tls     *tls.Config // nil: plain
	sni     string      // "" : the host that is dialled

	login    *login // at the servers
	sentinel *login // at the Sentinels

	cluster, single bool
	readOnly        bool
	timeout         time.Duration
}

// The ports that Redis has by default.
const (
	serverPort   = 6379
	sentinelPort = 26379
)

// resolve puts the options together. Its errors are UsageErrors.
func resolve(o Options) (*place, error) {
	var loc location
	if o.URL != "" {
		var err error
		if loc, err = parseURL(o.URL); err != nil {
			return nil, err
		}
	}
	if err := loc.override(o); err != nil {
		return nil, err
	}
	p := &place{
		network: "tcp", master: o.SentinelMaster, db: deref(loc.db), sni: o.SNI,
		cluster: o.Cluster, single: o.Single, readOnly: o.ReadOnly, timeout: o.timeout(),
	}
	var err error
	if p.login, err = o.login(loc); err != nil {
		return nil, err
	}
	p.sentinel = &login{user: o.SentinelUser, timeout: p.timeout}
	if o.SentinelPassword != "" {
		p.sentinel.password = &o.SentinelPassword
	}
	if p.tls, err = o.tlsConfig(loc.tls || o.TLS); err != nil {
		return nil, err
	}
	if err := p.check(o, loc); err != nil {
		return nil, err
	}
	if loc.socket != "" {
		p.network, p.addrs = "unix", []string{loc.socket}
		return p, nil
	}
	p.addrs, err = addresses(o, loc)
	return p, err
}

// override lets single fields take the place of the URL's.
func (l *location) override(o Options) error {
	if o.Socket != "" && (o.Host != "" || o.Port != 0) {
		return usage("a socket (-s) and a host or port (-h, -p) are two servers; name one")
	}
	if _, addrErr := netip.ParseAddr(o.Host); addrErr != nil && !hostName(o.Host) {
		return usage("-h takes the name or address of a host; a port is given with -p, a URL with -u")
	}
	if o.Port < 0 || o.Port > 65535 {
		return usage("a port is a number from 1 to 65535")
	}
	if o.Host != "" || o.Port != 0 {
		l.socket = ""
	}
	if o.Host != "" {
		l.host = o.Host
	}
	if o.Port != 0 {
		l.port = o.Port
	}
	if o.Socket != "" {
		l.socket = o.Socket
	}
	if o.DB != nil {
		l.db = o.DB
	}
	if l.db != nil && *l.db < 0 {
		return usage("a database is a number from 0 on")
	}
	return nil
}

// check refuses what cannot go together.
func (p *place) check(o Options, loc location) error {
	many := p.master != "" || len(o.Addrs) > 0 || p.cluster
	switch {
	case loc.socket != "" && p.tls != nil:
		return usage("a Unix socket has no TLS: leave out --tls and its certificates")
	case loc.socket != "" && many:
		return usage("a Unix socket is one server: leave out --addr, --cluster and --sentinel-master")
	case p.master != "" && (p.cluster || p.single):
		return usage("--sentinel-master names a master, not a Cluster: leave out --cluster and --single")
	case p.cluster && p.single:
		return usage("--cluster and --single contradict each other")
	case p.master == "" && o.SentinelUser != "":
		return usage("--sentinel-user needs --sentinel-master NAME")
	case p.cluster && p.db != 0:
		return usage("a Cluster has only database 0: leave out -n")
	}
	return nil
}

// addresses lists host:port of what is to be dialled, the host first.
func addresses(o Options, loc location) ([]string, error) {
	port := serverPort
	if o.SentinelMaster != "" {
		port = sentinelPort
	}
	var addrs []string
	if loc.host != "" || loc.port != 0 || len(o.Addrs) == 0 {
		addrs = append(addrs, join(loc.host, loc.port, port))
	}
	for _, a := range o.Addrs {
		host, p, err := splitHostPort(a)
		if err != nil {
			return nil, usage("--addr takes HOST:PORT ([IPV6]:PORT)")
		}
		addrs = append(addrs, join(host, p, port))
	}
	return addrs, nil
}

func join(host string, port, otherwise int) string {
	if host == "" {
		host = "127.0.0.1"
	}
	if port == 0 {
		port = otherwise
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

func deref[T any](p *T) T {
	if p == nil {
		var none T
		return none
	}
	return *p
}
