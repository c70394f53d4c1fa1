package libraries

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// program is the fencepost binary that all tests of a run share.
var program string

func TestMain(m *testing.M) { os.Exit(withProgram(m.Run)) }

func withProgram(run func() int) int {
	dir, err := os.MkdirTemp("", "fencepost-libraries-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays behind is in the system's own temporary directory
	program = filepath.Join(dir, "fencepost")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return run()
}

// row is what these tests read of a lock in `fencepost list --json`.
type row struct {
	Key        string   `json:"key"`
	Resource   string   `json:"resource"`
	Family     string   `json:"family"`
	Kind       string   `json:"kind"`
	Confidence string   `json:"confidence"`
	Candidates []string `json:"candidates"`
	Type       string   `json:"type"`
	Holders    []holder `json:"holders"`
	Waiters    *waiters `json:"waiters"`
	Fence      *string  `json:"fence"`
	TTL        *int64   `json:"ttl_ms"`
	Persistent bool     `json:"persistent"`
	State      string   `json:"state"`
	Companions []string `json:"companions"`
	RowID      string   `json:"row_id"`
	Note       string   `json:"note"`
	Peers      []string `json:"peers"`
	Relation   *string  `json:"relation"`
}

type holder struct {
	ID    string  `json:"id"`
	B64   *string `json:"id_b64"`
	Count int     `json:"count"`
	Label *string `json:"label"`
	TTL   *int64  `json:"ttl_ms"`
}

type waiters struct {
	Count *int `json:"count"`
}

// raw is the id as the library wrote it.
func (h holder) raw(t testing.TB) string {
	t.Helper()
	if h.B64 == nil {
		return h.ID
	}
	b, err := base64.StdEncoding.DecodeString(*h.B64)
	if err != nil {
		t.Fatalf("id_b64 of %s: %v", h.ID, err)
	}
	return string(b)
}

// said is what one run of the program printed, and how it ended.
type said struct {
	out, err string
	exit     int
}

// word is the first word on standard output, by which scripts go.
func (s said) word() string {
	first, _, _ := strings.Cut(s.out, " ")
	return strings.TrimSpace(first)
}

// fencepost runs the program against a server, with an audit file of the
// test's own and nothing of the user's configuration.
func fencepost(t testing.TB, s *redistest.Server, args ...string) said {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append(args, "-p", strconv.Itoa(s.Port))...)
	home := s.Dir()
	cmd.Env = []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + home, "PATH=" + os.Getenv("PATH")}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("fencepost %s: %v", strings.Join(args, " "), err)
	}
	return said{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// list is every row of `fencepost list --json`, in the program's order. more
// are further flags.
func list(t testing.TB, s *redistest.Server, more ...string) []row {
	t.Helper()
	got := fencepost(t, s, append(more, "list", "--json")...)
	if got.exit != 0 {
		t.Fatalf("list: exit %d\n%s", got.exit, got.err)
	}
	var doc struct {
		Locks []row `json:"locks"`
	}
	if err := json.Unmarshal([]byte(got.out), &doc); err != nil {
		t.Fatalf("list: %v\n%s", err, got.out)
	}
	return doc.Locks
}

// theRow is the row of a key in a list of so many rows: a companion key that is
// listed as a lock is a fault.
func theRow(t testing.TB, s *redistest.Server, key string, rows int) row {
	t.Helper()
	all := list(t, s)
	if len(all) != rows {
		t.Fatalf("list shows %d rows, want %d: %+v", len(all), rows, all)
	}
	i := slices.IndexFunc(all, func(r row) bool { return r.Key == key })
	if i < 0 {
		t.Fatalf("list has no row for %s: %+v", key, all)
	}
	return all[i]
}

// release force-releases what the operator saw: key, held by id. more are
// further flags.
func release(t testing.TB, s *redistest.Server, key, id string, more ...string) said {
	t.Helper()
	args := []string{"release", key, "--if-holder-b64", base64.StdEncoding.EncodeToString([]byte(id)),
		"--reason", "test", "--yes"}
	return fencepost(t, s, append(args, more...)...)
}

// ends checks the first word and the exit code of a run.
func (s said) ends(t testing.TB, word string, exit int) {
	t.Helper()
	if s.word() != word || s.exit != exit {
		t.Fatalf("said %q and exit %d, want %s and %d\nstandard output: %sstandard error: %s",
			s.word(), s.exit, word, exit, s.out, s.err)
	}
}
