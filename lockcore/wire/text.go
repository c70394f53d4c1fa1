package wire

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Raw is text that came from a server or will go to one: any bytes at all.
// Printing a Raw is harmless, because String escapes it; the bytes themselves
// are reached only by the conversion string(r), which a reader can look for.
type Raw string

// String returns the text with everything that could move a cursor, colour a
// screen or hide itself made visible, as Go escapes it. It is the form in
// which contract.md prints keys and holder ids, and it is reversible.
func (r Raw) String() string { return Escape(string(r)) }

// ValidUTF8 reports whether the bytes are UTF-8; where they are not, JSON
// output carries them in base64 beside the escaped form.
func (r Raw) ValidUTF8() bool { return utf8.ValidString(string(r)) }

// Escape makes s harmless to a terminal and to a reader: what is not printable
// UTF-8 becomes \n, \x1b, \u202e and the like, and the backslash becomes \\.
// Format characters (bidi overrides, zero-width joiners) count as unprintable.
func Escape(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x`)
			b.WriteByte(hexDigits[s[0]>>4])
			b.WriteByte(hexDigits[s[0]&15])
		case r == '\\':
			b.WriteString(`\\`)
		case Printable(r):
			b.WriteString(s[:n])
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
}

const hexDigits = "0123456789abcdef"

func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' || s[i] == '\\' {
			return false
		}
	}
	return true
}

// Printable reports whether a rune may reach a terminal as it is: a letter,
// mark, number, symbol, punctuation or the ASCII space.
func Printable(r rune) bool {
	return r == ' ' || (unicode.IsPrint(r) && !unicode.Is(unicode.Cf, r))
}

// Clean makes prose from a server (an error text, a client's name) safe to
// print on one line: unprintable runes and invalid bytes are escaped, but a
// backslash stays one.
func Clean(s string) string {
	return strings.ReplaceAll(Escape(s), `\\`, `\`)
}

// Word shows one argument as redis-cli would take it back: bare where that is
// safe, else in double quotes with escapes.
func Word(s string) string {
	if s != "" && !strings.ContainsAny(s, " \"'\\") && plain(s) {
		return s
	}
	return `"` + strings.ReplaceAll(Escape(s), `"`, `\"`) + `"`
}

// Shell quotes arguments so that sh or bash hands exactly these bytes to
// redis-cli. Plain text is single-quoted. Anything else needs redis-cli's own
// --quoted-input, which understands \xNN in double quotes: it is the only way
// to pass a NUL, and it makes the line readable on any terminal.
func Shell(argv []string) string {
	quoted := false
	for _, a := range argv {
		if !shellText(a) {
			quoted = true
		}
	}
	out := make([]string, 0, len(argv)+1)
	if quoted {
		out = append(out, "--quoted-input")
	}
	for _, a := range argv {
		if quoted {
			a = redisQuote(a)
		}
		out = append(out, shellQuote(a))
	}
	return strings.Join(out, " ")
}

// shellText reports whether s can stand between single quotes on a terminal:
// printable ASCII, tabs and line ends (scripts have them).
func shellText(s string) bool {
	for i := 0; i < len(s); i++ {
		if (s[i] < ' ' && s[i] != '\n' && s[i] != '\t') || s[i] > '~' {
			return false
		}
	}
	return true
}

func shellQuote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !bareShell(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func bareShell(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:@%+=,", r))
}

// redisQuote writes s for redis-cli --quoted-input.
func redisQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c < ' ' || c > '~':
			b.WriteString(`\x`)
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
