package lockcore

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"

	"fencepost/lockcore/wire"
)

// Fence is a fencing number: each acquisition of a lock has a larger one than
// the acquisitions before. Only the server gives them; 0 is never given.
//
// Hand it to whatever the lock protects. A resource that remembers the largest
// number it has seen, and refuses smaller ones, cannot be harmed by a holder
// that was overtaken; see Guard.
type Fence struct{ n uint64 }

// ParseFence reads a fence that travelled as text: a decimal number from 1 to
// 2^64-1 without sign or leading zeros. The error matches ErrUsage.
func ParseFence(s string) (Fence, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 || !wire.ValidFence(s) {
		return Fence{}, usage("%q is not a fencing number", s)
	}
	return Fence{n}, nil
}

// String is the number in decimal, as it goes into SQL, headers and scripts.
// Beyond 2^53 a JavaScript or Lua number would not hold it exactly.
func (f Fence) String() string { return strconv.FormatUint(f.n, 10) }

// IsZero reports whether this is no fence at all.
func (f Fence) IsZero() bool { return f.n == 0 }

// Compare returns -1, 0 or 1 as f is older than, equal to or newer than other.
func (f Fence) Compare(other Fence) int {
	switch {
	case f.n < other.n:
		return -1
	case f.n > other.n:
		return 1
	}
	return 0
}

// Pass is what a holder shows to a guard: the number, and the token that tells
// two holders of one number apart. It may travel to where the work is done.
type Pass struct {
	Fence Fence
	Token string
}

// Pass returns itself; it makes a Pass as good as a Lease for a Guard.
func (p Pass) Pass() Pass { return p }

// Passer is a Lease, or the Pass that was taken from one.
type Passer interface{ Pass() Pass }

// randomSource is where tokens come from: crypto/rand, which never fails with
// a weak answer. A test gives one that does fail.
type randomSource func(b []byte) error

func systemRandom(b []byte) error {
	_, err := rand.Read(b)
	return err
}

// newToken names the acquisition: 128 random bits, so that no two have the same
// name, whoever makes them. The token is the end of its tombstone's key.
func (h *hold) newToken() error {
	if err := h.l.random(h.entropy[:]); err != nil {
		return fmt.Errorf("lockcore: no random bits for a token: %w", err)
	}
	var text [wire.TokenLen]byte
	base64.RawURLEncoding.Encode(text[:], h.entropy[:])
	h.tombstone = h.keys.Lock + ":dead:" + string(text[:])
	h.token = h.tombstone[len(h.tombstone)-wire.TokenLen:]
	h.tokenArg, h.tombstoneArg = h.token, h.tombstone
	return nil
}
