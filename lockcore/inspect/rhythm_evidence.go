package inspect

import (
	"fmt"
	"time"

	"fencepost/lockcore/inspect/family"
)

// Leaning is what a piece of evidence speaks for. None of it is a verdict: a
// holder that renews may have finished its work long ago, and one that does not
// may be in the middle of it.
type Leaning string

// The leanings.
const (
	Alive   Leaning = "for a living holder"
	Dead    Leaning = "for a dead holder"
	Neither Leaning = ""
)

// Evidence is one thing that is known of a lock's holder, and how.
type Evidence struct {
	Says     string // in words, safe to print
	How      string // "renewals that were seen", "CLIENT LIST", "idle time"
	For      Leaning
	Inferred bool
}

// Evidence is what watching alone has shown of a lock's holder as of now, which
// should be View.Known: what is not known of a server that does not answer is no
// evidence. Inspector.Examine asks for more.
func (w *Watched) Evidence(now time.Time) []Evidence {
	if len(held(&w.Lock)) == 0 {
		return nil
	}
	var out []Evidence
	if text := w.Beat.Words(now); text != "" {
		e := Evidence{Says: text, How: "renewals that were seen", For: Alive, Inferred: w.Beat.About}
		if w.Beat.About {
			e.How = "renewals, worked out from the deadline"
		}
		if _, late := w.Beat.Overdue(now); late {
			e.For = Dead
		} else if w.Beat.Every == 0 {
			e.For = Neither
		}
		out = append(out, e)
	} else if _, ends := w.ends(); ends && now.Sub(w.FirstSeen) > time.Second {
		out = append(out, Evidence{
			Says: "not renewed in the " + moment(now.Sub(w.FirstSeen)) + " that it was watched", How: "watching",
		})
	}
	if text := w.HeldWords(now); text != "" {
		out = append(out, Evidence{Says: text, How: heldHow(w)})
	}
	if w.IdleBefore > 0 {
		out = append(out, Evidence{
			Says: "when it was first seen, nobody had read or written it for " + SpanOf(time.Duration(w.IdleBefore)*time.Second), How: "idle time",
		})
	}
	if w.Waiters != nil && w.Waiters.Count > 0 {
		out = append(out, Evidence{Says: waitersWords(w.Waiters), How: w.Waiters.How})
	}
	return out
}

func heldHow(w *Watched) string {
	switch _, exact := w.HeldSince(); {
	case len(w.Holders) == 1 && !w.Holders[0].Since.IsZero():
		return "what the lock says of itself"
	case exact:
		return "its beginning was seen"
	}
	return "since it was first seen"
}

func waitersWords(w *family.Waiters) string {
	switch {
	case w.Count < 0:
		return "somebody waits"
	case w.Count == 1:
		return "1 waits"
	}
	return fmt.Sprintf("%d wait", w.Count)
}
