package tui

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
)

// detail shows all that is known of one lock.
type detail struct {
	id  string
	top int
	// plan is what a release would send, noPlan why there is none. It is made
	// when the holders change, not when the screen is drawn.
	plan    inspect.Plan
	noPlan  string
	history []inspect.Event // oldest first, as far back as the Follower's ring reaches
}

func (m root) openDetail(r *row) (root, tea.Cmd) {
	m.detail = detail{id: r.id}
	m, cmd := m.planDetail(r)
	return m.open(atDetail), tea.Batch(cmd, m.loadHistory(r))
}

// planDetail makes the plan of a release. In a list of thousands a lock is kept
// without what a plan needs: then it is read again first.
func (m root) planDetail(r *row) (root, tea.Cmd) {
	plan, err := m.opts.Inspector.PlanRelease(*r.lock)
	m.detail.plan, m.detail.noPlan = plan, ""
	m.detail.plan.Lock = *r.lock
	if err == nil {
		return m, nil
	}
	m.detail.noPlan = cleanError(err)
	fw := m.following
	if fw == nil {
		return m, nil
	}
	ctx, cancel := m.bounded()
	in, w, id := m.opts.Inspector, r.watched, r.id
	return m, func() tea.Msg {
		defer cancel()
		out := plannedMsg{id: id, of: w}
		whole, err := fw.f.Whole(ctx, in, w)
		if err == nil {
			out.plan, err = in.PlanRelease(whole)
		}
		out.err = err
		return out
	}
}

// plannedMsg is a plan that had to read its lock first.
type plannedMsg struct {
	id   string
	of   *inspect.Watched
	plan inspect.Plan
	err  error
}

func (p plannedMsg) apply(m root) (root, tea.Cmd) { //nolint:unparam // an applier may ask for a command, this one does not
	if p.id != m.detail.id || !sameHolders(&p.of.Lock, &m.detail.plan.Lock) {
		return m, nil
	}
	if p.err != nil {
		m.detail.noPlan = cleanError(p.err)
		return m, nil
	}
	m.detail.plan, m.detail.noPlan = p.plan, ""
	return m, nil
}

// historyMsg is what happened to the detail's lock.
type historyMsg struct {
	id     string
	events []inspect.Event
}

// loadHistory fetches what happened to a row's lock.
func (m root) loadHistory(r *row) tea.Cmd {
	fw := m.following
	if fw == nil {
		return nil
	}
	return func() tea.Msg { return historyMsg{r.id, fw.f.History(r.lock)} }
}

func (h historyMsg) apply(m root) (root, tea.Cmd) { //nolint:unparam // an applier may ask for a command, this one does not
	if h.id == m.detail.id {
		m.detail.history = h.events
	}
	return m, nil
}

// syncDetail takes news into the open detail screen: a new plan where the lock
// has changed hands, and its history where something happened to it.
func (m root) syncDetail(events []inspect.Event) (root, tea.Cmd) {
	if m.detail.id == "" {
		return m, nil
	}
	r := m.feed.row(m.detail.id)
	if r == nil {
		return m, nil
	}
	var cmds []tea.Cmd
	if !sameHolders(&m.detail.plan.Lock, r.lock) {
		var cmd tea.Cmd
		m, cmd = m.planDetail(r)
		cmds = append(cmds, cmd)
	}
	for i := range events {
		if e := &events[i]; e.Key == r.lock.Key && e.DB == r.lock.DB && e.Field == r.lock.Field {
			cmds = append(cmds, m.loadHistory(r))
			break
		}
	}
	return m, tea.Batch(cmds...)
}

func (m root) detailKey(id keymap.ID) (root, tea.Cmd) {
	r := m.feed.row(m.detail.id)
	switch {
	case id == keymap.Back:
		m.detail.id = ""
		return m.back(), nil
	case id == keymap.Refresh:
		return m.askNow()
	case r == nil && (id == keymap.OpenRelease || id == keymap.Copy || id == keymap.CopyCommands):
		return m.say(warn, "this lock is gone"), nil
	case id == keymap.OpenRelease:
		return m.openRelease(r)
	case id == keymap.CopyCommands:
		return m.copyCommands(r)
	case id == keymap.Copy:
		return m, m.copyKey(r)
	}
	m.detail.top = scrolled(m.detail.top, id, len(m.detailLines()), m.bodyHeight())
	return m, nil
}

func (m root) detailBody() []string {
	return m.scroll(m.detailLines(), m.detail.top)
}

// detailLines say it in the order in which one asks: who has it, until when,
// does the holder live, who else wants it, how sure is that, what happened; then
// what it is, and what a release would send.
func (m root) detailLines() []string {
	r := m.feed.row(m.detail.id)
	if r == nil {
		lines := []string{"", " The server said that this lock is gone."}
		return append(lines, m.historyLines()...)
	}
	l := r.lock
	lines := []string{" " + m.theme.Strong.Wrap(r.name)}
	if !r.goneAt().IsZero() {
		lines = append(lines, " "+m.theme.Warn.Wrap("The server said "+coarse(m.now.Sub(r.goneAt()))+" ago that it is gone. Below is what was known."))
	}
	for _, w := range l.Warnings {
		lines = append(lines, m.facts(fact{"warning", w.Text + " (" + w.Code + ")", m.theme.Warn})...)
	}
	lines = append(lines, m.facts(m.holderFacts(r)...)...)
	lines = append(lines, m.facts(m.timeFacts(r)...)...)
	lines = append(lines, m.facts(m.evidenceFacts(r)...)...)
	lines = append(lines, m.facts(m.dataFacts(r)...)...)
	lines = append(lines, m.historyLines()...)
	lines = append(lines, "")
	lines = append(lines, m.facts(m.lockFacts(r)...)...)
	return append(append(lines, ""), m.planLines()...)
}

// historyShown is how many events of one lock the screen shows.
const historyShown = 200

// historyLines are what happened to the lock, newest first.
func (m root) historyLines() []string {
	all := m.detail.history
	head := " " + m.theme.Label.Wrap("What happened to it, newest first (times in UTC):")
	if len(all) == 0 {
		return []string{"", " " + m.theme.Label.Wrap("Nothing has happened to it while it was watched.")}
	}
	lines := []string{"", head}
	for i := len(all) - 1; i >= 0 && i >= len(all)-historyShown; i-- {
		e := &all[i]
		lines = append(lines, m.facts(fact{name: e.At.UTC().Format("15:04:05.000"), value: eventText(e, false), paint: m.eventPaint(e.Kind)})...)
	}
	if cut := len(all) - historyShown; cut > 0 {
		lines = append(lines, " "+m.theme.Muted.Wrap(fmt.Sprintf("and %s before", plural(cut, "event"))))
	}
	return lines
}

// planLines are what a release would send.
func (m root) planLines() []string {
	d := m.detail
	if d.noPlan != "" {
		return m.facts(fact{name: "release", value: d.noPlan})
	}
	review, _ := m.keys.Get(keymap.OpenRelease)
	copies, _ := m.keys.Get(keymap.CopyCommands)
	lines := []string{" " + m.theme.Label.Wrap(fmt.Sprintf("A release would send (%s reviews it, %s copies it):", review.Names(), copies.Names()))}
	return append(lines, m.stepLines(d.plan, false)...)
}

// ago is a past moment in words.
func ago(t, now time.Time) string { return recent(now.Sub(t)) + " ago" }
