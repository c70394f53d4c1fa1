package tui

import (
	"slices"
	"strings"
)

// sieve is what a filter lets through: what contains a text or, after "!", what
// does not. Case does not matter.
type sieve struct {
	want string
	not  bool
}

func newSieve(filter string) sieve {
	want, not := strings.CutPrefix(strings.ToLower(filter), "!")
	return sieve{want, not}
}

// open reports whether everything passes.
func (s sieve) open() bool { return s.want == "" }

// passes reports whether a text in lower case passes.
func (s sieve) passes(text string) bool { return s.open() || strings.Contains(text, s.want) != s.not }

// haystacks are the texts of rows, by their slots, kept from one key of a filter
// to the next. They belong to the model: a row itself is read by the command that
// follows too, and so nothing may be kept in it.
type haystacks []haystack

type haystack struct {
	row  *row
	text string
}

// of is all that a filter looks through in a row, in lower case.
func (h haystacks) of(r *row) string {
	if int(r.slot) < len(h) && h[r.slot].row == r {
		return h[r.slot].text
	}
	return strings.ToLower(r.name + "\n" + textOf(r.lock))
}

// with are the haystacks with those of these rows among them.
func (h haystacks) with(rows []*row) haystacks {
	for _, r := range rows {
		if n := int(r.slot) + 1; n > len(h) {
			h = slices.Grow(h, n-len(h))[:n]
		}
		h[r.slot] = haystack{r, h.of(r)}
	}
	return h
}

// filtered are the rows that pass the filter, and what was looked through.
func (l list) filtered() ([]*row, haystacks) {
	s := newSieve(l.filter.String())
	if s.open() {
		return l.all, nil
	}
	texts := l.texts.with(l.all)
	return slices.DeleteFunc(slices.Clone(l.all), func(r *row) bool { return !s.passes(texts.of(r)) }), texts
}
