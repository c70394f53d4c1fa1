package tui

import (
	"io"
	"os"
)

// The sequences that a terminal puts around a paste.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// pasteLimit is how much of a paste is read: far more than any input takes.
const pasteLimit = 16 << 10

// keyboard is a terminal's input with long pastes cut short.
//
// v1: Bubble Tea collects a paste by copying all of it again for every 256
// bytes that it reads, so a megabyte takes many seconds in which no key works,
// ctrl+c included. What is dropped here is never seen by it.
type keyboard struct {
	*os.File // Bubble Tea and its cancelling reader look for the descriptor
	pastes   pasteFilter
}

func (k *keyboard) Read(p []byte) (int, error) {
	n, err := k.File.Read(p)
	return k.pastes.filter(p[:n]), err
}

// limitPastes wraps an input that is a terminal's.
func limitPastes(in io.Reader) io.Reader {
	if f, ok := in.(*os.File); ok && f != nil {
		return &keyboard{File: f}
	}
	return in
}

// pasteFilter follows the sequences around pastes through a stream of reads.
type pasteFilter struct {
	inside  bool
	kept    int // bytes of this paste that were let through
	matched int // bytes of the next sequence that were just read
}

// filter drops, in place, what is too much of a paste, and returns how many
// bytes are left. The bytes of a sequence are never dropped.
func (f *pasteFilter) filter(p []byte) int {
	out := 0
	for _, b := range p {
		next := pasteBegin
		if f.inside {
			next = pasteEnd
		}
		switch b {
		case next[f.matched]:
			f.matched++
		case next[0]:
			f.matched = 1
		default:
			f.matched = 0
		}
		keep := !f.inside || f.matched > 0 || f.kept < pasteLimit
		if f.inside {
			f.kept++
		}
		if f.matched == len(next) {
			f.inside, f.matched, f.kept = !f.inside, 0, 0
		}
		if keep {
			p[out] = b
			out++
		}
	}
	return out
}
