package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
)

// allLive reports whether every node answers.
func (m root) allLive() bool {
	nodes := m.feed.view.Nodes
	return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(n inspect.NodeStatus) bool { return n.Reach != inspect.Live })
}

// firstLive reports whether the node that the header names answers.
func (m root) firstLive() bool {
	nodes := m.feed.view.Nodes
	return len(nodes) > 0 && nodes[0].Reach == inspect.Live
}

// servers is how many servers some nodes are on: each database of one is a node.
func servers(nodes []inspect.NodeStatus) int {
	seen := map[string]bool{}
	for i := range nodes {
		seen[nodes[i].Addr] = true
	}
	return len(seen)
}

// silent are the nodes that do not answer.
func (m root) silent() []*inspect.NodeStatus {
	var out []*inspect.NodeStatus
	for i := range m.feed.view.Nodes {
		if n := &m.feed.view.Nodes[i]; n.Reach == inspect.Late || n.Reach == inspect.Lost {
			out = append(out, n)
		}
	}
	return out
}

// linkWords say how the locks are followed, and how fresh the screen is. A lost
// server shows at once.
func (m root) linkWords() string {
	th := m.theme
	if silent := m.silent(); len(silent) > 0 {
		return th.BadgeLost.Wrap(" " + m.silence(silent) + " ")
	}
	switch {
	case !m.list.frozen.IsZero():
		return th.BadgeLost.Wrap(" FROZEN for " + coarse(m.now.Sub(m.list.frozen)) + " ")
	case !m.allLive():
		return "connecting" + th.Glyph.Ellipsis
	}
	words := m.followedWords()
	if slices.ContainsFunc(m.feed.view.Nodes, func(n inspect.NodeStatus) bool { return n.MasterDown }) {
		return th.Warn.Wrap("live, MASTER LOST") + th.Muted.Wrap(", "+words)
	}
	return th.Good.Wrap("live") + th.Muted.Wrap(", "+words)
}

// silence says who does not answer, and since when.
func (m root) silence(silent []*inspect.NodeStatus) string {
	n := silent[0]
	since := " for " + recent(m.now.Sub(n.Heard))
	if n.Heard.IsZero() {
		since = " so far"
	}
	if all := servers(m.feed.view.Nodes); all > 1 {
		var mute []inspect.NodeStatus
		for _, s := range silent {
			mute = append(mute, *s)
		}
		return fmt.Sprintf("%d of %d nodes: NO ANSWER%s", servers(mute), all, since)
	}
	if n.Reach == inspect.Lost && !n.Heard.IsZero() {
		return "LOST" + since
	}
	return "NO ANSWER" + since
}

// followedWords say how changes are learned: by tracking, by notifications, by
// polling. Where nodes differ, the one that tells least counts. A narrow screen
// has the best source alone.
func (m root) followedWords() string {
	rank := map[inspect.Source]int{inspect.ByTracking: 0, inspect.ByNotification: 1, inspect.ByPolling: 2}
	worst := slices.MaxFunc(m.feed.view.Nodes, func(a, b inspect.NodeStatus) int { return rank[a.Source] - rank[b.Source] })
	if first, _, more := strings.Cut(worst.Following, " and "); more && m.width < 100 {
		return first
	}
	return worst.Following
}

// secondLine is the coverage, so that an empty list can be believed, or why the
// server does not answer.
func (m root) secondLine() string {
	if silent := m.silent(); len(silent) > 0 {
		return " " + m.theme.Warn.Wrap(m.whySilent(silent[0]))
	}
	parts := append([]string{m.markWords(), m.vigilWords(), m.countWords()}, m.coverageWords()...)
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return m.theme.Muted.Wrap(" " + strings.Join(parts, " "+m.theme.Glyph.Dot+" "))
}

// whySilent says what is wrong with a node, and what comes next.
func (m root) whySilent(n *inspect.NodeStatus) string {
	at := ""
	if servers(m.feed.view.Nodes) > 1 {
		at = n.Addr + ": "
	}
	if n.Reach == inspect.Late {
		if n.Err != "" {
			return at + n.Err + "; rows stay as they were last heard"
		}
		return at + "it took a question and does not answer; rows stay as they were last heard"
	}
	text := at + n.Err
	if wait := n.RetryAt.Sub(m.now); wait > 0 {
		text += "; next try in " + recent(wait)
	} else {
		text += "; trying"
	}
	key, _ := m.keys.Get(keymap.Refresh)
	return text + " (" + keymap.Name(key.Keys[0]) + ": now)"
}

func (m root) countWords() string {
	if m.list.filter.String() != "" {
		return fmt.Sprintf("filter %q: %s of %s (Esc clears)", m.list.filter.String(), thousands(int64(len(m.list.rows))), pluralThousands(int64(len(m.list.all)), "lock"))
	}
	return pluralThousands(int64(len(m.list.all)), "lock")
}

// coverageWords say what was looked at, or how far that is.
func (m root) coverageWords() []string {
	v := m.feed.view
	c := v.Coverage
	if c.Nodes == 0 {
		return nil
	}
	key, _ := m.keys.Get(keymap.ScanPause)
	progress := fmt.Sprintf("%s of ~%s keys", roughly(c.Scanned), roughly(max(c.Keyspace, c.Scanned)))
	var parts []string
	switch {
	case v.Paused && !passed(v):
		parts = []string{"scan PAUSED at " + progress + " (" + keymap.Name(key.Keys[0]) + " goes on)"}
	case !passed(v) && len(c.Errors) == 0:
		parts = []string{"scanned " + progress}
	default:
		parts = []string{m.depthWords()}
	}
	if v.Paused && passed(v) {
		parts = slices.Insert(parts, 0, "search PAUSED ("+keymap.Name(key.Keys[0])+" goes on)")
	}
	if !c.Complete && (passed(v) || len(c.Errors) > 0) {
		parts = slices.Insert(parts, 0, "INCOMPLETE")
		parts = slices.Insert(parts, 1, c.Errors...) // before what a narrow screen may cut
	} else {
		parts = append(parts, c.Errors...)
	}
	parts = append(parts, whereWords(&c, servers(v.Nodes) > 1)...)
	if c.PossibleHidden > 0 {
		parts = append(parts, fmt.Sprintf("%d doubtful hidden", c.PossibleHidden))
	}
	return parts
}

// depthWords say how closely the keys were looked at.
func (m root) depthWords() string {
	v := m.feed.view
	c := v.Coverage
	keys := pluralThousands(c.Scanned, "key")
	if c.Depth != inspect.ByName {
		return keys + " looked at (deep)"
	}
	deep, _ := m.keys.Get(keymap.ScanDeep)
	text := keys + " looked at by name"
	if v.DeepAt.IsZero() {
		return text + " (" + keymap.Name(deep.Keys[0]) + ": deep)"
	}
	return text + ", deep " + coarse(m.now.Sub(v.DeepAt)) + " ago"
}

// whereWords say in which databases and nodes was looked, and in which not.
func whereWords(c *inspect.Coverage, several bool) []string {
	var parts []string
	if len(c.DBs) > 0 {
		text := "db " + numbers(c.DBs)
		if len(c.OtherDBs) > 0 {
			text += " (keys in " + numbers(c.OtherDBs) + " too)"
		}
		parts = append(parts, text)
	}
	if len(c.Match) > 0 && !slices.Equal(c.Match, []string{"*"}) {
		parts = append(parts, "only "+strings.Join(c.Match, " "))
	}
	if several || c.NodesScanned < c.Nodes && c.Nodes > 1 {
		parts = append(parts, fmt.Sprintf("%d of %d nodes", c.NodesScanned, c.Nodes))
	}
	return parts
}

func numbers(list []int) string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = strconv.Itoa(n)
	}
	return strings.Join(out, ",")
}

// thousands writes a number in groups of three.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func pluralThousands(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return thousands(n) + " " + noun
}

// roughly is a number at a glance: 812, 240k, 1.0M.
func roughly(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
}

// recent is a time that has just passed or is near: 412 ms, 2.3 s, then in its
// largest unit.
func recent(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Round(10*time.Millisecond).Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%d.%d s", d/time.Second, d%time.Second/(100*time.Millisecond))
	}
	return coarse(d)
}
