package target

import (
	"net"
	"strconv"
)

// RedisCLI returns the flags by which redis-cli reaches a database of the server
// at addr ("host:port") as these options do. No password is among them: redis-cli
// takes it from REDISCLI_AUTH.
func (o Options) RedisCLI(addr string, db int) ([]string, error) {
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
	var flags []string
	if loc.socket != "" {
		flags = append(flags, "-s", loc.socket)
	} else if host, port, err := net.SplitHostPort(addr); err == nil {
		flags = append(flags, "-h", host, "-p", port)
	}
	if db != 0 {
		flags = append(flags, "-n", strconv.Itoa(db))
	}
	if o.User != "" {
		loc.user = o.User
	}
	if loc.user != "" {
		flags = append(flags, "--user", loc.user)
	}
	if !loc.tls && !o.TLS {
		return flags, nil
	}
	flags = append(flags, "--tls")
	for _, f := range [][2]string{{"--sni", o.SNI}, {"--cacert", o.CACert}, {"--cert", o.Cert}, {"--key", o.Key}} {
		if f[1] != "" {
			flags = append(flags, f[0], f[1])
		}
	}
	if o.Insecure {
		flags = append(flags, "--insecure")
	}
	return flags, nil
}
