package lockcore

import (
	"sync/atomic"

	"fencepost/lockcore/wire"
)

// stamp makes what a holder tells of itself, with the time, once a second: many
// acquisitions of one second say the same.
type stamp struct{ last atomic.Pointer[stamped] }

type stamped struct {
	wall int64 // full seconds
	arg  any   // as it is sent
}

// about is the text for an acquisition that began then.
func (s *stamp) about(began instant, text string) any {
	at := began.second()
	if last := s.last.Load(); last != nil && last.wall == at.Unix() {
		return last.arg
	}
	fresh := &stamped{wall: at.Unix(), arg: wire.AboutSince(at, text)}
	s.last.Store(fresh)
	return fresh.arg
}
