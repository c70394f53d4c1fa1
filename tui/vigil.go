package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
)

// vigil is a lock that somebody wants to be told of: when it is free or handed
// over, or at a time of their choosing.
type vigil struct {
	id, name string
	seen     inspect.Lock // as it was then
	since    time.Time
	due      time.Time // when to ask again; zero: as soon as it is free or handed over
}

// maxVigils bounds them: more than anybody has in mind.
const maxVigils = 50

// waitFor begins to watch a lock for its operator, and closes the panel.
func (m root) waitFor(r *row, l inspect.Lock) root {
	return m.keep(vigil{id: r.id, name: r.name, seen: l, since: m.now},
		r.name+": you will be told, with a bell, when it is free or handed over; nothing was changed")
}

// remind has the console ask about a lock again after some time, and closes the
// panel.
func (m root) remind(r *row, in time.Duration) root {
	return m.keep(vigil{id: r.id, name: r.name, seen: m.release.live, since: m.now, due: m.now.Add(in)},
		r.name+": you will be asked again in "+inspect.SpanOf(in)+"; nothing was changed")
}

func (m root) keep(v vigil, said string) root {
	m.vigils = slices.DeleteFunc(slices.Clone(m.vigils), func(x vigil) bool { return x.id == v.id && x.due.IsZero() == v.due.IsZero() })
	if len(m.vigils) >= maxVigils {
		return m.say(warn, fmt.Sprintf("%d locks are being waited for already", maxVigils))
	}
	m.vigils = append(m.vigils, v)
	m.release.question++ // late answers are dropped
	return m.back().say(fine, said)
}

// tickVigils tells of what has come to pass, with a bell. It looks when there is
// news, or when somebody's time has come.
func (m root) tickVigils() (root, tea.Cmd) {
	due := slices.ContainsFunc(m.vigils, func(v vigil) bool { return !v.due.IsZero() && !m.now.Before(v.due) })
	if len(m.vigils) == 0 || m.vigilView == m.feed.view && !due {
		return m, nil
	}
	m.vigilView = m.feed.view
	var told []string
	var left []vigil
	for _, v := range m.vigils {
		if text := v.tells(m.feed.row(v.id), m.now); text != "" {
			told = append(told, v.name+" "+text)
		} else {
			left = append(left, v)
		}
	}
	if len(told) == 0 {
		return m, nil
	}
	m.vigils = left
	return m.say(warn, "at "+m.now.UTC().Format("15:04:05")+" UTC "+strings.Join(told, "; ")), m.ring()
}

// tells says what has become of the lock; "" while there is nothing to tell. r
// is its row, nil where there is none any more.
func (v vigil) tells(r *row, now time.Time) string {
	waited := ", after " + coarse(now.Sub(v.since))
	switch {
	case !v.due.IsZero() && now.Before(v.due):
		return ""
	case r == nil || !r.goneAt().IsZero():
		return "is free: the server said that it is gone" + v.asked(waited)
	case len(r.lock.Holders) == 0 || r.lock.State == family.Free:
		return "is free: nobody holds it" + v.asked(waited)
	case r.lock.State == family.Lapsed && v.seen.State != family.Lapsed:
		return "is free: its time is over, and its library would let the next one in" + v.asked(waited)
	case v.handedOver(r.lock):
		return "was handed over to " + r.lock.HolderWords() + v.asked(waited)
	case !v.due.IsZero():
		return "is still held by " + r.lock.HolderWords() + ": you wanted to be asked again" + v.asked(waited)
	}
	return ""
}

// asked leaves out how long was waited, where that was the operator's choice.
func (v vigil) asked(waited string) string {
	if v.due.IsZero() {
		return waited
	}
	return ""
}

// handedOver reports whether none of those who held the lock holds it now, or
// the same one has taken it anew.
func (v vigil) handedOver(l *inspect.Lock) bool {
	if len(v.seen.Holders) == 1 && len(l.Holders) == 1 {
		return !sameHolders(&v.seen, l)
	}
	return !slices.ContainsFunc(v.seen.Holders, func(h family.Holder) bool {
		return slices.ContainsFunc(l.Holders, func(x family.Holder) bool { return x.ID == h.ID && x.Label == h.Label })
	})
}

// vigilWords say on the second line that somebody is to be told; "" else.
func (m root) vigilWords() string {
	if len(m.vigils) == 0 {
		return ""
	}
	return "you will be told of " + plural(len(m.vigils), "lock")
}

// ring has the terminal ring its bell.
func (m root) ring() tea.Cmd {
	bell := m.outlet.bell
	return func() tea.Msg {
		_ = bell() // the notice says the same
		return nil
	}
}
