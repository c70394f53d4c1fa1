package family

import (
	"slices"
	"strings"
)

// after splits a key at a mark that begins it or follows a character that is
// no letter or digit, as the prefixes end that clients put before their keys:
// after("app:lock:x", "lock:") is "app:", "x". The rest is never empty.
func after(key, mark string) (prefix, rest string, ok bool) {
	for from := 0; ; {
		i := strings.Index(key[from:], mark)
		if i < 0 {
			return "", "", false
		}
		i += from
		if end := i + len(mark); end < len(key) && (i == 0 || !alnum(key[i-1])) {
			return key[:i], key[end:], true
		}
		from = i + 1
	}
}

// beside is a Family's Part for names that begin with a mark.
func beside(marks ...string) func(key string) bool {
	return func(key string) bool {
		return slices.ContainsFunc(marks, func(mark string) bool {
			_, _, ok := after(key, mark)
			return ok
		})
	}
}

// rest is what follows the mark in a key, or the whole key.
func rest(key, mark string) string {
	if _, r, ok := after(key, mark); ok {
		return r
	}
	return key
}

// hostPID splits "web-1:4242" or "web-1|4242" at the last separator.
func hostPID(s string, sep byte) (host string, pid int64, ok bool) {
	i := strings.LastIndexByte(s, sep)
	if i <= 0 {
		return "", 0, false
	}
	pid, ok = parseInt(s[i+1:])
	if !ok || pid <= 0 || pid > 1<<32 || len(s[:i]) > 255 || !isPrintable(s[:i]) || strings.ContainsAny(s[:i], " \t") {
		return "", 0, false
	}
	return s[:i], pid, true
}

// namesHostPID reports whether s is a host and a process id.
func namesHostPID(s string, sep byte) bool {
	_, _, ok := hostPID(s, sep)
	return ok
}

// short reports whether a string value was read whole and is short printable
// text, as an owner's name is.
func short(s *Sample) bool {
	return s.Whole && len(s.Value) > 0 && len(s.Value) <= 200 && isPrintable(s.Value)
}

// isNumber reports whether s is a plain decimal number, a time for instance.
func isNumber(s string) bool {
	_, ok := parseDecimal(s)
	return ok
}
