package tui

import (
	"slices"
	"strings"
	"unicode"

	"fencepost/keymap"
	"fencepost/tui/theme"
)

// maxInput bounds a line of input, so that a paste of a megabyte does no harm.
const maxInput = 512

// field is one line of text that is typed into.
type field struct {
	text []rune
	at   int // the cursor: before text[at]
	// offered: nobody has typed this. It is taken as it is, or the first character
	// that is typed takes its place.
	offered bool
}

// offer is a field with a text that may be taken as it is.
func offer(text string) field {
	f := field{}.insert([]rune(text))
	f.offered = text != ""
	return f
}

func (f field) String() string { return string(f.text) }

// insert puts text in at the cursor.
func (f field) insert(runes []rune) field {
	if f.offered {
		f = field{}
	}
	runes = runes[:min(len(runes), max(0, maxInput-len(f.text)))]
	f.text = slices.Insert(slices.Clone(f.text), f.at, runes...)
	f.at += len(runes)
	return f
}

// key takes a key that edits the line; used is false where it means something
// else (enter, esc).
func (f field) key(keys keymap.Map, name string) (next field, used bool) {
	id, bound := keys.Match(keymap.Input, name)
	if r, ok := printable(name); ok && (!bound || len(name) == 1) {
		return f.insert([]rune{r}), true
	}
	if !bound {
		return f, false
	}
	switch id {
	case keymap.EraseChar, keymap.EraseWord, keymap.EraseLine:
		return f.erase(id), true
	case keymap.CharLeft:
		f.at = max(0, f.at-1)
	case keymap.CharRight:
		f.at = min(len(f.text), f.at+1)
	case keymap.LineStart:
		f.at = 0
	case keymap.LineEnd:
		f.at = len(f.text)
	default:
		return f, false
	}
	f.offered = false // it is edited from here on
	return f, true
}

// erase takes away what is before the cursor: a character, a word, all. What is
// only offered goes as a whole.
func (f field) erase(id keymap.ID) field {
	switch {
	case f.offered:
		return field{}
	case id == keymap.EraseWord:
		return f.cut(f.wordStart(), f.at)
	case id == keymap.EraseLine:
		return f.cut(0, f.at)
	}
	return f.cut(f.at-1, f.at)
}

func (f field) cut(from, to int) field {
	from = max(0, from)
	f.text = slices.Delete(slices.Clone(f.text), from, to)
	f.at = from
	return f
}

func (f field) wordStart() int {
	i := f.at
	for i > 0 && unicode.IsSpace(f.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(f.text[i-1]) {
		i--
	}
	return i
}

// view draws the line with its cursor, at most w cells wide: the part around
// the cursor where it is longer.
func (f field) view(th theme.Theme, w int) string {
	before, after := string(f.text[:f.at]), string(f.text[f.at:])
	under, rest := " ", ""
	if f.at < len(f.text) {
		under, rest = string(f.text[f.at]), string([]rune(after)[1:])
	}
	if th.Depth == theme.Plain {
		under = "_" + strings.TrimSpace(under)
	}
	room := max(0, w-theme.Width(under))
	for theme.Width(before) > room { // the beginning slides out
		before = string([]rune(before)[1:])
	}
	if f.offered {
		before = th.Muted.Wrap(before)
	}
	return before + th.Cursor.Wrap(under) + th.Glyph.Cut(rest, room-theme.Width(before))
}
