package tui

import (
	"bytes"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"fencepost/keymap"
	"fencepost/lockcore/audit"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/sandbox"
	"fencepost/tui/theme"
)

// bench is the real program, go-redis and a sandbox in one bubble of fake time.
type bench struct {
	t       *testing.T
	sandbox *sandbox.Sandbox
	redis   *redis.Client
	program *tea.Program
	out     *bytes.Buffer
	done    chan error
	cancel  context.CancelFunc

	following *following
	clip      []string
	bells     atomic.Int32
	audit     *bytes.Buffer
	wire      *cable
	faulty    bool // the test makes a fault
}

// cable stands between the client and the sandbox and can be pulled.
type cable struct {
	dial  func(context.Context, string, string) (net.Conn, error)
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func (c *cable) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		return nil, errors.New("connection refused")
	}
	conn, err := c.dial(ctx, network, addr)
	c.conns = append(c.conns, conn)
	return conn, err
}

// pull cuts every connection and refuses new ones until plug.
func (c *cable) pull() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}

func (c *cable) plug() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = false
}

// spy answers one message of its own with what the screen shows.
type spy struct{ tea.Model }

type askView chan string

func (s spy) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if ask, ok := msg.(askView); ok {
		ask <- s.View()
		return s, nil
	}
	m, cmd := s.Model.Update(msg)
	return spy{m}, cmd
}

// benchOptions changes what a bench starts with.
type benchOptions struct {
	sandbox sandbox.Options
	console func(*Options)
	width   int
	height  int
}

// run plays a test in a bubble with a console on a sandbox.
func run(t *testing.T, bo benchOptions, play func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, bo)
		play(b)
		b.end()
	})
}

func start(t *testing.T, bo benchOptions) *bench {
	t.Helper()
	logging.Disable()            // go-redis would write about cut connections
	time.Sleep(time.Until(noon)) // a bubble begins in the year 2000, which no lock's value would believe
	b := &bench{t: t, out: &bytes.Buffer{}, audit: &bytes.Buffer{}, done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	s, err := sandbox.Start(ctx, bo.sandbox)
	if err != nil {
		t.Fatal(err)
	}
	b.sandbox = s
	b.wire = &cable{dial: s.Dial}
	b.redis = redis.NewClient(&redis.Options{
		Addr: "sandbox", Dialer: b.wire.Dial, PoolSize: 16, PipelinePoolSize: -1, MaxRetries: -1, DialerRetries: 1,
		ContextTimeoutEnabled: true, DisableIdentity: true, ReadTimeout: 3 * time.Second,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	o := Options{
		Inspector: inspect.New(inspect.Node{Addr: "sandbox", Client: b.redis}),
		Server:    Server{Name: "sandbox", Role: "master", Mode: "single", Sandbox: true},
		Identify: func(ctx context.Context) (Server, error) {
			return Server{Name: "sandbox", Role: "master", Mode: "single", Sandbox: true}, b.redis.Ping(ctx).Err()
		},
		Explain: s.Says, Theme: theme.New(theme.Plain, true), Keys: keymap.Default(), Crash: &Crash{Dir: t.TempDir()},
		Audit: audit.Stream(b.audit), Operator: "ann@desk",
	}
	if bo.console != nil {
		bo.console(&o)
	}
	b.following = follow(ctx, &o)
	m := newRoot(ctx, o, b.following, outlet{func(text string) error { b.clip = append(b.clip, text); return nil }, func() error { b.bells.Add(1); return nil }, &inFlight{}})
	b.program = tea.NewProgram(spy{m}, tea.WithInput(nil), tea.WithOutput(b.out), tea.WithoutSignalHandler(), tea.WithAltScreen())
	o.Crash.onStop(b.program.Kill)
	go func() {
		_, err := b.program.Run()
		b.done <- ending(o.Crash, 0, nil, err)
	}()
	if bo.width == 0 {
		bo.width, bo.height = 80, 24
	}
	b.program.Send(tea.WindowSizeMsg{Width: bo.width, Height: bo.height})
	b.pass(1500 * time.Millisecond)
	return b
}

// end leaves the console and waits for everything that still runs.
func (b *bench) end() {
	b.program.Quit()
	if err := <-b.done; err != nil && !b.faulty {
		b.t.Errorf("the console ended with %v", err)
	}
	b.cancel()
	b.following.stop()
	_ = b.redis.Close()
	b.sandbox.Close()
	time.Sleep(10 * time.Second) // a Cmd cannot be cancelled: the last tick must fire
}

// pass lets time go by.
func (b *bench) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// screen is what shows, without escapes and spaces at line ends.
func (b *bench) screen() string {
	synctest.Wait()
	ask := make(askView, 1)
	b.program.Send(ask)
	return plainText(<-ask)
}

func plainText(view string) string {
	lines := strings.Split(theme.Strip(view), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// press sends keys one by one and lets the screen be drawn after each.
func (b *bench) press(keys ...string) {
	for _, k := range keys {
		b.program.Send(press(k))
		b.pass(150 * time.Millisecond)
	}
}

// enter types texts and presses keys, as they come.
func (b *bench) enter(what ...string) {
	for _, w := range what {
		if msg := press(w); msg.Type != tea.KeyRunes || len(msg.Runes) == 1 {
			b.press(w)
			continue
		}
		b.program.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(w)}) // read together, as a fast typist's are
		b.pass(50 * time.Millisecond)
	}
}

// audited fails unless the last intent and outcome in the audit have these in them.
func (b *bench) audited(verb string, texts ...string) {
	b.t.Helper()
	lines := strings.Split(strings.TrimSpace(b.audit.String()), "\n")
	if len(lines) < 2 {
		b.t.Errorf("the audit has %d lines", len(lines))
		return
	}
	last := strings.Join(lines[len(lines)-2:], "\n")
	for _, text := range append(texts, `"verb":"`+verb+`"`, `"by":"console"`, `"line":"outcome"`) {
		if !strings.Contains(last, text) {
			b.t.Errorf("the audit does not say %q:\n%s", text, last)
		}
	}
}

// press is a key message by Bubble Tea's own name for the key.
func press(name string) tea.KeyMsg {
	named := map[string]tea.KeyType{
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "up": tea.KeyUp,
		"down": tea.KeyDown, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "ctrl+c": tea.KeyCtrlC, "backspace": tea.KeyBackspace,
		"home": tea.KeyHome, "end": tea.KeyEnd, "left": tea.KeyLeft, "right": tea.KeyRight, " ": tea.KeySpace, "ctrl+d": tea.KeyCtrlD,
		"ctrl+u": tea.KeyCtrlU, "ctrl+w": tea.KeyCtrlW, "f1": tea.KeyF1,
	}
	if t, ok := named[name]; ok {
		if t == tea.KeySpace {
			return tea.KeyMsg{Type: t, Runes: []rune{' '}}
		}
		return tea.KeyMsg{Type: t}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

func paste(text string) tea.KeyMsg {
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true}
}

// do sends a command to the sandbox.
func (b *bench) do(args ...any) any {
	b.t.Helper()
	reply, err := b.redis.Do(context.Background(), args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		b.t.Fatalf("%v: %v", args, err)
	}
	return reply
}

// sandboxDo does the same on a connection that no test cuts.
func (b *bench) sandboxDo(args ...any) {
	b.t.Helper()
	c := redis.NewClient(&redis.Options{Addr: "sandbox", Dialer: b.sandbox.Dial, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
	defer func() { _ = c.Close() }()
	if err := c.Do(context.Background(), args...).Err(); err != nil {
		b.t.Fatalf("%v: %v", args, err)
	}
}

// line is the line of the screen that holds a text.
func (b *bench) line(text string) string {
	for l := range strings.Lines(b.screen()) {
		if strings.Contains(l, text) {
			return strings.TrimSuffix(l, "\n")
		}
	}
	return ""
}

// want fails unless the screen shows a text.
func (b *bench) want(texts ...string) {
	b.t.Helper()
	screen := b.screen()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			b.t.Errorf("the screen does not show %q:\n%s", text, screen)
		}
	}
}

func (b *bench) never(texts ...string) {
	b.t.Helper()
	screen := b.screen()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			b.t.Errorf("the screen shows %q:\n%s", text, screen)
		}
	}
}

// keysOf are the keys of all bindings that neither quit nor suspend.
func (b *bench) keysOf() []string {
	var keys []string
	for _, id := range keymap.Default().IDs() {
		binding, _ := keymap.Default().Get(id)
		if id != keymap.Quit && id != keymap.Abort && id != keymap.Suspend {
			keys = append(keys, binding.Keys...)
		}
	}
	return slices.DeleteFunc(keys, func(k string) bool { return k == "q" })
}
