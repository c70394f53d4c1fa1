package wire_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fencepost/lockcore/wire"
)

// hashTag is what a Cluster hashes of a key, by its specification.
func hashTag(key string) string {
	open := strings.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	end := strings.IndexByte(key[open+1:], '}')
	if end <= 0 {
		return key
	}
	return key[open+1 : open+1+end]
}

// Any name that is taken has all its keys in one slot, and no key belongs to
// two locks.
func TestKeysShareASlotAndBelongToOneLock(t *testing.T) {
	text := rapid.OneOf(rapid.StringOf(rapid.SampledFrom([]rune("{}ab:\x00"))), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		prefix, name := text.Draw(t, "prefix"), text.Draw(t, "name")
		k, err := wire.NewKeys(prefix, name)
		if refused := name == "" || name[0] == '}' || strings.ContainsAny(prefix, "{}"); refused != errors.Is(err, wire.ErrName) {
			t.Fatalf("prefix %q name %q: %v", prefix, name, err)
		}
		if err != nil {
			return
		}
		want := map[string]wire.Part{
			k.Lock: wire.PartLock, k.Counter: wire.PartCounter, k.Queue: wire.PartQueue,
			k.Alive: wire.PartAlive, k.Tombstone("tok"): wire.PartDead,
		}
		if len(want) != 5 {
			t.Fatalf("two parts share a key: %q", want)
		}
		for key, part := range want {
			if hashTag(key) != hashTag(k.Lock) {
				t.Fatalf("%q is in another slot than %q", key, k.Lock)
			}
			gotPrefix, gotName, gotPart, ok := wire.SplitKey(key)
			if !ok || gotPrefix != prefix || gotName != name || gotPart != part {
				t.Fatalf("%q was taken apart as %q %q %q %v", key, gotPrefix, gotName, gotPart, ok)
			}
		}
	})
}

func TestSplitKeyRefusesOtherKeys(t *testing.T) {
	for _, key := range []string{"", "a", "{}", "{", "}", "lock:{a", "lock:{}", "lock:{a}:other", "a}b{c}", "{}}"} {
		if prefix, name, part, ok := wire.SplitKey(key); ok {
			t.Errorf("%q: %q %q %q", key, prefix, name, part)
		}
	}
}

func TestFencesCompareExactly(t *testing.T) {
	up := []string{"1", "9", "10", "99", "100", "9007199254740992", "9007199254740993", "9223372036854775807", "18446744073709551616"}
	for i, a := range up {
		for j, b := range up {
			if wire.LessFence(a, b) != (i < j) {
				t.Errorf("%s < %s is %v", a, b, i >= j)
			}
		}
	}
	for s, ok := range map[string]bool{"0": true, "10": true, "": false, "01": false, "-1": false, "1e3": false, " 1": false} {
		if wire.ValidFence(s) != ok {
			t.Errorf("%q valid: %v", s, !ok)
		}
	}
}
