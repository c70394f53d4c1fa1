package inspect

import (
	"hash/maphash"
	"sync"

	"fencepost/lockcore/inspect/family"
)

// typeGuess remembers of which type the keys of one form were ("user:#:cart"),
// so that a deep scan need not ask for the type of each. It has a fixed size: a
// form that is pushed out is asked for again.
type typeGuess struct {
	seed  maphash.Seed
	mu    sync.Mutex
	forms [1 << 11]struct {
		form uint64
		kind family.Type
	}
	right, wrong int
}

func newTypeGuess() *typeGuess { return &typeGuess{seed: maphash.MakeSeed()} }

// mostWrong is how many wrong guesses in a thousand are put up with: each is an
// error reply, which a server counts and its keepers may watch.
const mostWrong = 2

// of is the type that the last key of this form had, "" where none is known.
// Only the types that a lock may have are guessed: what was no lock once may be
// one now.
func (g *typeGuess) of(key string) family.Type {
	form := g.form(key)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wrong > 8 && g.wrong*1000 > (g.right+g.wrong)*mostWrong {
		return ""
	}
	slot := &g.forms[form%uint64(len(g.forms))]
	if slot.form != form {
		return ""
	}
	g.right++
	return slot.kind
}

// learn notes what a key turned out to be.
func (g *typeGuess) learn(key string, kind family.Type) {
	if kind != family.String && !collection(kind) {
		return
	}
	form := g.form(key)
	g.mu.Lock()
	defer g.mu.Unlock()
	slot := &g.forms[form%uint64(len(g.forms))]
	slot.form, slot.kind = form, kind
}

// forget notes a wrong guess.
func (g *typeGuess) forget(key string) {
	form := g.form(key)
	g.mu.Lock()
	defer g.mu.Unlock()
	if slot := &g.forms[form%uint64(len(g.forms))]; slot.form == form {
		slot.form = 0
	}
	g.right--
	g.wrong++
}

// form is a hash of the key with every run of digits put as one, and only so
// much of it as tells keys of one kind from another.
func (g *typeGuess) form(key string) uint64 {
	var buf [48]byte
	n, digits := 0, false
	for i := 0; i < len(key) && n < len(buf); i++ {
		c := key[i]
		if c >= '0' && c <= '9' {
			if !digits {
				buf[n] = '#'
				n++
			}
			digits = true
			continue
		}
		digits = false
		buf[n] = c
		n++
	}
	return maphash.Bytes(g.seed, buf[:n]) | 1 // 0 is an empty slot
}
