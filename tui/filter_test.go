package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"fencepost/lockcore/inspect"
)

// While a filter is typed, rows go on to be made from rows by the command that
// follows: under -race this fails where the filter writes into a row.
func TestFilterWhileRowsChange(t *testing.T) {
	fw := newFollowing()
	view := func(turn int) *inspect.View {
		v := &inspect.View{}
		for i := range 20 {
			w := seen(fmt.Sprintf("lock:%d", i), redissonA, 1, noon)
			w.TTL = int64(1000 + turn)
			v.Rows = append(v.Rows, w)
		}
		return v
	}
	fw.take(view(0), noon)
	l := list{all: slices.Clone(fw.slots)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for turn := range 50 {
			fw.take(view(turn+1), noon.Add(time.Duration(turn)))
		}
	}()
	for _, text := range []string{"l", "lo", "lock:1", "!lock:1", "LOCK:19"} {
		for _, c := range text {
			l.filter = l.filter.insert([]rune{c})
		}
		l.rows, l.texts = l.filtered()
	}
	<-done
}

// What was looked through is kept by place; another row in that place is looked
// through anew.
func TestFilterLooksAtTheRowThatIsThere(t *testing.T) {
	first := newRow(seen("lock:first", redissonA, 1, noon), false, false)
	second := newRow(seen("lock:Second", redissonB, 1, noon), false, false)
	texts := haystacks(nil).with([]*row{first})
	for filter, want := range map[string][2]bool{
		"": {true, true}, "FIRST": {true, false}, "second": {false, true}, "!first": {false, true}, "!": {true, true},
	} {
		s := newSieve(filter)
		if got := [2]bool{s.passes(texts.of(first)), s.passes(texts.of(second))}; got != want {
			t.Errorf("%q lets through %v, want %v", filter, got, want)
		}
	}
}
