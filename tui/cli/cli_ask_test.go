package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"fencepost/lockcore/redistest"
)

// aTerminal opens both ends of a terminal, until the end of the test.
func aTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, theirs, err := pty.Open()
	switch {
	case err != nil && os.Getenv("FENCEPOST_REDIS") == "required":
		t.Fatal("no terminal can be opened: ", err)
	case err != nil:
		t.Skip("SKIPPED, no terminal can be opened: ", err)
	}
	t.Cleanup(func() { _ = ours.Close(); _ = theirs.Close() })
	return ours, theirs
}

// What is typed into a console has to come from a terminal: the lines of a file
// would be keys, and of a stream that cannot be waited for it could not begin.
func TestConsoleWithoutATerminalToReadFrom(t *testing.T) {
	_, theirs := aTerminal(t)
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nothing.Close() }()
	var errs strings.Builder
	code := Run(nil, func(string) string { return "" }, nothing, theirs, &errs)
	if said := errs.String(); code != exitUsage || !strings.Contains(said, "standard input is no terminal") || strings.Contains(said, "bubbletea") {
		t.Errorf("exit %d: %s", code, said)
	}
}

// B15 on a terminal: a user name without a password asks for it, and does not
// show what is typed.
func TestAskOnATerminal(t *testing.T) {
	s := redistest.Start(t)
	s.Do("ACL", "SETUSER", "ops", "on", ">s3cret", "~*", "+@all")
	screen, tty := aTerminal(t)

	var out, errs bytes.Buffer
	inv := &invocation{env: func(string) string { return "" }, in: tty, out: &out, err: &errs}
	p, err := parseArgs([]string{"-u", "redis://ops@" + s.Addr})
	if err != nil {
		t.Fatal(err)
	}
	inv.opts, inv.given, inv.verb = p.opts, p.given, verb{name: "test", target: needsTarget}
	go func() {
		time.Sleep(100 * time.Millisecond) // after the echo is off
		_, _ = screen.Write([]byte("s3cret\n"))
	}()
	tg, code := inv.open(t.Context())
	if tg == nil {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	if tg.Info.User != "ops" {
		t.Errorf("the connection is one of %q", tg.Info.User)
	}
	_ = tg.Close() // the test is done with it
	if !strings.Contains(errs.String(), "Password: ") {
		t.Errorf("nothing asked: %q", errs.String())
	}
	_ = tty.Close() // so that what the terminal showed can be read to its end
	shown := make([]byte, 256)
	n, _ := screen.Read(shown) // an error means that nothing was shown
	if strings.Contains(string(shown[:n]), "s3cret") {
		t.Errorf("the terminal showed the password: %q", shown[:n])
	}
}
