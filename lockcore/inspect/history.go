package inspect

import "slices"

// eventsKept bounds the history of all locks together.
const eventsKept = 20_000

// history is a ring of events. Only locks that changed are in it, so it costs
// nothing for those that nobody touches.
type history struct {
	ring []Event
	seq  uint64 // of the last event
}

// add files an event and gives it its number.
func (h *history) add(e Event) {
	h.seq++
	e.Seq = h.seq
	if len(h.ring) < eventsKept {
		h.ring = append(h.ring, e)
		return
	}
	h.ring[(h.seq-1)%eventsKept] = e
}

// oldest is the number of the oldest event that is kept.
func (h *history) oldest() uint64 { return h.seq - uint64(len(h.ring)) + 1 }

// after returns the events that came after a number, oldest first, and how many
// of them are lost already.
func (h *history) after(seq uint64) (events []Event, lost uint64) {
	if first := h.oldest(); seq+1 < first {
		lost = first - 1 - seq
		seq = first - 1
	}
	events = make([]Event, 0, h.seq-seq)
	for n := seq + 1; n <= h.seq; n++ {
		events = append(events, h.ring[(n-1)%eventsKept])
	}
	return events, lost
}

// of returns the events of one lock, oldest first.
func (h *history) of(l *Lock) []Event {
	var out []Event
	for n := h.oldest(); n <= h.seq; n++ {
		e := &h.ring[(n-1)%eventsKept]
		if e.Key == l.Key && e.DB == l.DB && e.Field == l.Field && e.HasField == l.HasField {
			out = append(out, *e)
		}
	}
	return slices.Clip(out)
}
