package target

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// location is what a URL says.
type location struct {
	tls      bool
	socket   string
	host     string
	port     int // 0: not said
	db       *int
	user     string
	password *Secret // nil: not said
}

// urlAdvice is how to write what a URL cannot hold as it is.
const urlAdvice = "percent-encode what is special in it: % as %25, / as %2F, # as %23, ? as %3F, @ as %40, : as %3A"

// parseURL reads redis://, rediss://, valkey://, valkeys:// and unix:// URLs.
// It does the work itself because net/url repeats its input in its errors, and
// here that may be a password. None of its errors holds any of the input.
func parseURL(secret Secret) (location, error) {
	scheme, rest, ok := strings.Cut(string(secret), "://")
	if !ok {
		return location{}, usage("the URL has no scheme: write redis://, rediss:// (TLS), valkey://, valkeys:// (TLS) or unix:// before it")
	}
	var loc location
	switch lower(scheme) {
	case "redis", "valkey":
	case "rediss", "valkeys":
		loc.tls = true
	case "unix", "redis+unix", "valkey+unix":
		return parseSocketURL(rest)
	case "redis-sentinel", "redis+sentinel", "rediss+sentinel":
		return loc, usage("a Sentinel is given with --addr HOST:PORT and --sentinel-master NAME, not as a URL")
	case "http", "https":
		return loc, usage("the URL is one of the web; a Redis URL begins with redis:// or rediss:// (TLS)")
	default:
		return loc, usage("the URL's scheme is unknown: use redis://, rediss:// (TLS), valkey://, valkeys:// (TLS) or unix://")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if strings.Contains(rest[end:], "@") {
		return loc, usage("the URL has a raw /, ? or # before its @, most likely in the password: " + urlAdvice)
	}
	authority, tail := rest[:end], rest[end:]
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		if err := loc.readUser(authority[:i]); err != nil {
			return loc, err
		}
		authority = authority[i+1:]
	}
	if err := loc.readHost(authority); err != nil {
		return loc, err
	}
	return loc, loc.readTail(tail)
}

func (l *location) readUser(info string) error {
	name, pass, hasPass := strings.Cut(info, ":")
	user, err := url.PathUnescape(name)
	if err != nil {
		return usage("the user name in the URL has a bad percent escape: write % as %25")
	}
	l.user = user
	if hasPass {
		p, err := url.PathUnescape(pass)
		if err != nil {
			return usage("the password in the URL has a bad percent escape: " + urlAdvice)
		}
		secret := Secret(p)
		l.password = &secret
	}
	return nil
}

func (l *location) readHost(s string) error {
	host, port, err := splitHostPort(s)
	if err != nil {
		return usage("the URL's host or port is not one (host:port, [ipv6]:port); if a password stands there, write redis://:PASSWORD@host:port and " + urlAdvice)
	}
	l.host, l.port = host, port
	return nil
}

// readTail reads /DB?db=N.
func (l *location) readTail(tail string) error {
	if strings.Contains(tail, "#") {
		return usage("the URL has a # after its host; what follows it would be ignored")
	}
	path, query, _ := strings.Cut(tail, "?")
	if db := strings.Trim(path, "/"); db != "" {
		if err := l.readDB(db); err != nil {
			return err
		}
	}
	return l.readQuery(query)
}

func (l *location) readDB(s string) error {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return usage("what stands after the host in the URL is the database, and must be a number")
	}
	db := int(n)
	if l.db != nil && *l.db != db {
		return usage("the URL names two databases")
	}
	l.db = &db
	return nil
}

func (l *location) readQuery(query string) error {
	for param := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(param, "=")
		switch lower(name) {
		case "":
		case "db":
			if err := l.readDB(value); err != nil {
				return err
			}
		default:
			return usage("the URL has a parameter after ? that is not known here; there is only db=N (TLS has its own flags: --cacert, --cert, --key, --sni, --insecure)")
		}
	}
	return nil
}

// parseSocketURL reads unix://[user:password@]/path[?db=N].
func parseSocketURL(rest string) (location, error) {
	var loc location
	head, query, _ := strings.Cut(rest, "?")
	if strings.Contains(query, "@") || strings.Contains(head, "#") {
		return loc, usage("the URL has a raw ? or # before its path: " + urlAdvice)
	}
	if i := strings.IndexByte(head, '@'); i >= 0 && strings.IndexByte(head[:i], '/') < 0 {
		if err := loc.readUser(head[:i]); err != nil {
			return loc, err
		}
		head = head[i+1:]
	}
	path, err := url.PathUnescape(head)
	if err != nil {
		return loc, usage("the path of the socket in the URL has a bad percent escape: write % as %25")
	}
	if !strings.HasPrefix(path, "/") {
		return loc, usage("a unix:// URL needs the whole path of the socket: unix:///run/redis.sock")
	}
	loc.socket = path
	return loc, loc.readQuery(query)
}

// splitHostPort reads host, host:port, [ipv6], [ipv6]:port and a bare IPv6
// address. Port 0 means that none was said.
func splitHostPort(s string) (host string, port int, err error) {
	bad := usage("not host:port")
	rest := ""
	switch {
	case strings.HasPrefix(s, "["):
		in, after, ok := strings.Cut(s[1:], "]")
		if _, addrErr := netip.ParseAddr(strings.Replace(in, "%25", "%", 1)); !ok || addrErr != nil {
			return "", 0, bad
		}
		host, rest = strings.Replace(in, "%25", "%", 1), after
	case strings.Count(s, ":") > 1:
		if _, addrErr := netip.ParseAddr(s); addrErr != nil {
			return "", 0, bad
		}
		return s, 0, nil
	default:
		before, after, ok := strings.Cut(s, ":")
		host = before
		if ok {
			rest = ":" + after
		}
	}
	if !hostName(host) && !strings.HasPrefix(s, "[") {
		return "", 0, bad
	}
	if rest == "" {
		return host, 0, nil
	}
	n, convErr := strconv.ParseUint(strings.TrimPrefix(rest, ":"), 10, 16)
	if convErr != nil || n == 0 || rest[0] != ':' {
		return "", 0, bad
	}
	return host, int(n), nil
}

// hostName reports whether s can be the name of a host, or is empty.
func hostName(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._", r)
	}) < 0
}
