package family

import "math"

// The shapes of the tokens, times and names that libraries write. They are byte
// loops and not regular expressions, because every key of a scan passes here.

// isHex reports whether s is n lower-case hexadecimal digits.
func isHex(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := range len(s) {
		if !hexDigit(s[i]) {
			return false
		}
	}
	return n > 0
}

func hexDigit(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// isUUID reports whether s is a UUID in lower case, of any version.
func isUUID(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	for i := range len(s) {
		if i != 8 && i != 13 && i != 18 && i != 23 && !hexDigit(s[i]) {
			return false
		}
	}
	return true
}

// isUUIDv reports whether s is a UUID of the version, of the usual variant.
func isUUIDv(s string, version byte) bool {
	return isUUID(s) && s[14] == version && (s[19] == '8' || s[19] == '9' || s[19] == 'a' || s[19] == 'b')
}

// isUUID4 reports whether s is a random UUID.
func isUUID4(s string) bool { return isUUIDv(s, '4') }

// isDigits reports whether s is decimal digits only, at least one.
func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// isInt reports whether s is a decimal integer as Redis writes it.
func isInt(s string) bool {
	if len(s) > 1 && s[0] == '-' {
		s = s[1:]
	}
	return isDigits(s) && len(s) <= 19
}

// isAlnum reports whether s is n ASCII letters and digits.
func isAlnum(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := range len(s) {
		if !alnum(s[i]) {
			return false
		}
	}
	return n > 0
}

func alnum(c byte) bool { return c >= '0' && c <= '9' || letter(c) }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isBase64 reports whether s is the standard base64 of n bytes, padding and
// unused bits included.
func isBase64(s string, n int) bool {
	pad := (3 - n%3) % 3
	if len(s) != (n+2)/3*4 {
		return false
	}
	body := s[:len(s)-pad]
	for i := range len(body) {
		if c := body[i]; !alnum(c) && c != '+' && c != '/' {
			return false
		}
	}
	for _, c := range []byte(s[len(body):]) {
		if c != '=' {
			return false
		}
	}
	return tailBits(body, n)
}

// isBase64URL reports whether s is the URL-safe base64 of n bytes without
// padding, unused bits included.
func isBase64URL(s string, n int) bool {
	if len(s) != (n*8+5)/6 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !alnum(c) && c != '-' && c != '_' {
			return false
		}
	}
	return tailBits(s, n)
}

// tailBits reports whether the bits of the last character that carry nothing
// are zero, as every encoder leaves them.
func tailBits(body string, n int) bool {
	if body == "" {
		return n == 0
	}
	last := body[len(body)-1]
	switch n % 3 {
	case 1:
		return last == 'A' || last == 'Q' || last == 'g' || last == 'w'
	case 2:
		return (base64Digit(last) & 3) == 0
	}
	return true
}

func base64Digit(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return c - 'A'
	case c >= 'a' && c <= 'z':
		return c - 'a' + 26
	case c >= '0' && c <= '9':
		return c - '0' + 52
	case c == '+' || c == '-':
		return 62
	}
	return 63
}

// isPrintable reports whether s is printable ASCII.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// looksRandom reports whether a token of letters and digits mixes upper and
// lower case, as a random one does and a word or a number does not.
func looksRandom(s string) bool {
	var upper, lower bool
	for i := range len(s) {
		upper = upper || s[i] >= 'A' && s[i] <= 'Z'
		lower = lower || s[i] >= 'a' && s[i] <= 'z'
	}
	return upper && lower
}

// parseInt reads a decimal integer; false for anything else and for what does
// not fit.
func parseInt(s string) (int64, bool) {
	neg := len(s) > 1 && s[0] == '-'
	if neg {
		s = s[1:]
	}
	if !isDigits(s) || len(s) > 19 {
		return 0, false
	}
	var n uint64
	for i := range len(s) {
		n = n*10 + uint64(s[i]-'0')
	}
	if n > math.MaxInt64 {
		return 0, false
	}
	if neg {
		return -int64(n), true
	}
	return int64(n), true
}

// parseDecimal reads a plain decimal number with an optional fraction, as
// Redis writes a score; false for exponents, signs of infinity and the like.
// The answer is in thousandths.
func parseDecimal(s string) (thousandths int64, ok bool) {
	whole, frac := s, ""
	for i := range len(s) {
		if s[i] == '.' {
			whole, frac = s[:i], s[i+1:]
			if !isDigits(frac) {
				return 0, false
			}
			break
		}
	}
	n, ok := parseInt(whole)
	if !ok || n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
		return 0, false
	}
	n *= 1000
	var f int64
	for i := range 3 {
		f *= 10
		if i < len(frac) {
			f += int64(frac[i] - '0')
		}
	}
	if whole[0] == '-' {
		f = -f
	}
	return n + f, true
}

// Times that a lock may bear: between 2012 and 2100. What lies outside is a
// number that happens to be long.
const (
	firstMS int64 = 1_325_376_000_000
	lastMS  int64 = 4_102_444_800_000
)

// epochMS reads milliseconds since 1970, with or without a fraction.
func epochMS(s string) (int64, bool) {
	if len(s) < 13 || len(s) > 24 {
		return 0, false
	}
	n, ok := parseDecimal(s)
	n /= 1000
	return n, ok && n >= firstMS && n < lastMS
}

// epochS reads seconds since 1970, with or without a fraction, and answers in
// milliseconds.
func epochS(s string) (int64, bool) {
	if len(s) < 10 || len(s) > 24 {
		return 0, false
	}
	n, ok := parseDecimal(s)
	return n, ok && n >= firstMS && n < lastMS
}

// day in milliseconds.
const (
	second int64 = 1000
	minute       = 60 * second
	hour         = 60 * minute
	day          = 24 * hour
	year         = 365 * day
)

// near reports whether a time in milliseconds lies within some milliseconds of
// the moment the key was looked at. Where that is not known, any time will do.
func near(s *Sample, ms, within int64) bool {
	return s.NowMS == 0 || ms >= s.NowMS-within && ms <= s.NowMS+within
}
