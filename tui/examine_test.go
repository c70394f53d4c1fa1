package tui

import (
	"testing"
	"time"
)

// The panel and the examination ask at the same moment, on two connections.
// What the panel's reading touches must not look like somebody who tries for the
// lock.
func TestThePanelsOwnReadingIsFromHere(t *testing.T) {
	l := someLocks()[0]
	d := newDirect(120, 40).found(l)
	w := d.m.list.rows[0].watched
	d.m.now = w.SampledAt.Add(3 * time.Second)
	if got := d.m.readSince(w); got != w {
		t.Errorf("without a panel: read at %v, want %v", got.SampledAt, w.SampledAt)
	}
	d.m, _ = d.m.openRelease(d.m.list.rows[0])
	if got := d.m.readSince(w); !got.SampledAt.Equal(d.m.now) {
		t.Errorf("while the panel reads it: read at %v, want %v", got.SampledAt, d.m.now)
	}
	d.m.release.looking, d.m.release.live.SampledAt = false, w.SampledAt.Add(2*time.Second)
	if got := d.m.readSince(w); !got.SampledAt.Equal(d.m.release.live.SampledAt) {
		t.Errorf("after the panel read it: read at %v", got.SampledAt)
	}
}
