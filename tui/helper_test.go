package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/keymap"
	"fencepost/lockcore/inspect"
	"fencepost/lockcore/sandbox"
	"fencepost/tui/theme"
)

// breakVariable makes the test program a console that has a fault of this kind
// a moment after its first screen: the shipped program has no such switch.
const breakVariable = "FENCEPOST_TEST_BREAK"

func TestMain(m *testing.M) {
	if kind := os.Getenv(breakVariable); kind != "" {
		os.Exit(brokenConsole(kind))
	}
	os.Exit(runTests(m))
}

// runTests gives the tests on terminals a place for the program that they build.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fencepost-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Setenv("FENCEPOST_TEST_BUILD", dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// brokenConsole runs a real console on a real terminal with a fault in it.
func brokenConsole(kind string) int {
	secret := "hunter2"
	crash := &Crash{Dir: os.Getenv("FENCEPOST_TEST_DIR"), Redact: func(s string) string {
		return strings.ReplaceAll(s, secret, "[secret]")
	}}
	s, err := sandbox.Start(context.Background(), sandbox.Options{Crash: crash.Report})
	if err != nil {
		return 1
	}
	client := redis.NewClient(&redis.Options{Dialer: s.Dial})
	o := Options{
		Inspector: inspect.New(inspect.Node{Addr: "sandbox", Client: client}), Server: Server{Name: "sandbox", Sandbox: true},
		Theme: theme.New(theme.Sixteen, false), Keys: keymap.Default(), In: os.Stdin, Out: os.Stdout, Crash: crash,
	}
	begun := time.Now()
	o.Explain = func(string) string {
		if kind == "view" && time.Since(begun) > time.Second {
			panic("fault in a view, password " + secret)
		}
		return "about to break"
	}
	c := newConsole(context.Background(), o)
	go breakIt(c, kind, secret)
	err = c.run()
	fmt.Fprintln(os.Stderr, "fencepost:", err)
	if errors.As(err, new(*CrashError)) {
		return 1
	}
	return 0
}

// breakIt makes the fault a moment after the first screen.
func breakIt(c *console, kind, secret string) {
	time.Sleep(time.Second)
	switch kind {
	case "goroutine":
		defer c.crash.catch()
		panic("fault in a goroutine, password " + secret)
	case "view": // Explain breaks by itself
	default:
		c.program.Send(faultMsg{kind, secret})
	}
}
