package tui

import (
	"context"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"fencepost/keymap"
	"fencepost/lockcore/audit"
	"fencepost/lockcore/inspect"
	"fencepost/tui/theme"
)

// root is the only tea.Model: it holds the facts, hands keys to the screen in
// front and everything else to whom it concerns. All its parts are values, so an
// Update returns a new state and never touches the old one.
type root struct {
	ctx       context.Context
	opts      Options
	theme     theme.Theme
	keys      keymap.Map
	outlet    outlet
	following *following // nil: nothing is followed

	now           time.Time // of the last tick or answer: View reads no clock
	started       time.Time
	width, height int
	server        Server
	feed          feed
	notice        notice
	armed         time.Time     // until when a guarded target may be changed
	reason        string        // the last one that was given; offered for the next
	vigils        []vigil       // what somebody wants to be told of
	vigilView     *inspect.View // for which they were looked at last
	marks         marks

	stack   []place // the screens that are open, the front one last
	list    list
	detail  detail
	exam    exam
	release release
	bulk    bulk
	help    help
	sort    sortMenu
	events  eventsScreen
	lab     lab
}

// place is a screen.
type place int

const (
	atList place = iota
	atDetail
	atRelease
	atBulk
	atHelp
	atSort
	atLabList
	atLab
	atLabTalk
	atEvents
)

// applier is a message that knows what it changes: the answer to a command.
type applier interface {
	apply(m root) (root, tea.Cmd)
}

func newRoot(ctx context.Context, o Options, fw *following, out outlet) root {
	if o.Audit == nil {
		o.Audit = audit.File("") // it says that there is no place for it
	}
	return root{
		ctx: ctx, opts: o, theme: o.Theme, keys: o.Keys, outlet: out, following: fw,
		server: o.Server, stack: []place{atList}, list: newList(), feed: feed{view: &inspect.View{}},
	}
}

// front is the screen that gets the keys.
func (m root) front() place { return m.stack[len(m.stack)-1] }

func (m root) open(p place) root {
	m.stack = append(m.stack[:len(m.stack):len(m.stack)], p)
	return m
}

func (m root) back() root {
	if len(m.stack) > 1 {
		m.stack = m.stack[:len(m.stack)-1]
	}
	return m
}

// Init starts the one ticker, and the waiting for news.
func (m root) Init() tea.Cmd { return m.opts.Crash.guard(tea.Batch(tickNow, m.await())) }

// Update never does I/O.
//
// v1: a panic here is caught, because Bubble Tea would print its value, which
// may hold a secret, and no file would keep the trace.
func (m root) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil {
			m.opts.Crash.Report(v, debug.Stack())
			next, cmd = m, nil
		}
	}()
	out, cmd := m.handle(msg)
	return out, m.opts.Crash.guard(cmd)
}

func (m root) handle(msg tea.Msg) (root, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if m.unseen() { // a question that comes into sight now is drawn now
			m.release.drawn, m.bulk.drawn = m.now, m.now
		}
		m.width, m.height = msg.Width, msg.Height
		m.list = m.list.sync(m)
		return m, nil
	case tea.KeyMsg:
		return m.typed(msg)
	case tea.ResumeMsg:
		return m.say(fine, "back again"), m.tell((*inspect.Follower).Rescan)
	case applier:
		return msg.apply(m)
	}
	return m, nil
}

// tickEvery is the pace of the screen. The countdown below ten seconds shows
// tenths.
const tickEvery = 100 * time.Millisecond

// tickMsg is the one clock of the console.
type tickMsg time.Time

func tickNow() tea.Msg { return tickMsg(time.Now()) }

func (t tickMsg) apply(m root) (root, tea.Cmd) {
	m.now = later(m.now, time.Time(t))
	if m.started.IsZero() {
		m.started = m.now
	}
	cmds := []tea.Cmd{tea.Tick(tickEvery, func(t time.Time) tea.Msg { return tickMsg(t) })}
	m, cmd := m.identify()
	cmds = append(cmds, cmd)
	m, cmd = m.examine()
	cmds = append(cmds, cmd)
	m.notice = m.notice.fade(m.now)
	m = m.tickLab()
	for _, tick := range []func(root) (root, tea.Cmd){root.tickRelease, root.tickBulk, root.tickVigils} {
		m, cmd = tick(m)
		cmds = append(cmds, cmd)
	}
	return m, tea.Batch(cmds...)
}

// View draws the screen in front. v1: see Update.
func (m root) View() (screen string) {
	defer m.opts.Crash.catch()
	if m.width == 0 || m.height == 0 {
		return "" // the size is not known yet
	}
	return m.draw()
}

// bounded is the context of a question to the server.
func (m root) bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(m.ctx, m.opts.timeout())
}
