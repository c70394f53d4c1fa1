package inspect

import (
	"fmt"
	"slices"
	"testing"

	"fencepost/lockcore/inspect/family"
)

// The holders of a lock that is a hash stand in the same order at every look,
// however the server and the protocol give its fields.
func TestFieldsOfAHashKeepTheirOrder(t *testing.T) {
	t.Parallel()
	asMap, asList := map[any]any{}, []any{}
	for i := range 12 {
		field := fmt.Sprint("thread:", (7*i)%12+10)
		asMap[field] = "1"
		asList = append(asList, field, "1")
	}
	want := pairsOf(family.Hash, asList)
	if !slices.IsSortedFunc(want, func(a, b family.Pair) int { return slices.Compare([]byte(a.A), []byte(b.A)) }) {
		t.Error("as a list: ", want)
	}
	for range 5 {
		if got := pairsOf(family.Hash, asMap); !slices.Equal(got, want) {
			t.Fatal("as a map: ", got)
		}
	}
	if got := pairsOf(family.List, []any{"b", "a"}); got[0].A != "b" {
		t.Error("a list has an order of its own: ", got)
	}
}
