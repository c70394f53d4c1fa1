package inspect

// serverPattern is the MATCH that the server itself applies: it takes one, so
// several patterns are matched here.
func serverPattern(match []string) string {
	if len(match) == 1 && match[0] != "*" {
		return match[0]
	}
	return ""
}

// matchAny reports whether a key matches one of the patterns; none means all.
func matchAny(patterns []string, key string) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, p := range patterns {
		if Glob(p, key) {
			return true
		}
	}
	return false
}

// Glob reports whether s matches a pattern as Redis's MATCH understands it:
// * ? [abc] [^a-z] and \ before a character that stands for itself. Bytes are
// compared, as the server does. Its cost is bounded by the two lengths'
// product, whatever the pattern.
func Glob(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		if p < len(pattern) && pattern[p] == '*' {
			star, mark = p, i
			p++
			continue
		}
		if n, ok := one(pattern[p:], s[i]); ok {
			p += n
			i++
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		p, i = star+1, mark
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// one matches one byte against the head of a pattern, and says how long that
// head is.
func one(pattern string, c byte) (int, bool) {
	if pattern == "" {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '\\':
		if len(pattern) > 1 {
			return 2, pattern[1] == c
		}
		return 1, c == '\\'
	case '[':
		return class(pattern, c)
	}
	return 1, pattern[0] == c
}

// class matches one byte against a bracket expression; one that is not closed
// reaches to the end of the pattern.
func class(pattern string, c byte) (int, bool) {
	i, not, hit := 1, false, false
	if i < len(pattern) && pattern[i] == '^' {
		not = true
		i++
	}
	for ; i < len(pattern) && pattern[i] != ']'; i++ {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern):
			i++
			hit = hit || pattern[i] == c
		case i+2 < len(pattern) && pattern[i+1] == '-':
			lo, hi := min(pattern[i], pattern[i+2]), max(pattern[i], pattern[i+2])
			hit = hit || lo <= c && c <= hi
			i += 2
		default:
			hit = hit || pattern[i] == c
		}
	}
	if i < len(pattern) {
		i++
	}
	return i, hit != not
}
