package tui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// From the start to the moment at which a room sees the stale write: under two
// minutes, and not many keys. Then a fork, the other world, and both.
func TestE2ELab(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	s := open(t, terminal{env: []string{"XDG_CONFIG_HOME=" + t.TempDir(), "LANG=C"}})
	s.sees("SANDBOX", "4 lab")
	s.write("4")
	s.sees("gc-pause-late-write", "The stale owner wins.")
	s.write("\r")
	s.sees("step 0/10", "sandbox, virtual time")
	s.write("S8\r") // to step 8
	s.sees("step 8/10", "70 taken", "YES, step 8")
	if took := time.Since(begun); took > 2*time.Minute {
		t.Errorf("the stale write took %s", took)
	}
	s.write("[")
	s.sees("step 7/10", "1 take it", "> ?")
	s.write("2")
	s.sees("[2] refuse it")
	s.write("]")
	s.sees("it is 1", "70 taken")
	s.write("c")
	s.sees("THEY PART AT STEP 8.", "refused 33<34")
	s.write("c")
	s.sees("SINCE 5")
	s.write("S3\r")
	s.sees("step 3/10")
	s.write("F\r") // A crashes
	s.sees("A CRASHES", "world 3 of 3")
	s.write("w")
	s.sees("NO FENCE")
	s.write("G")
	s.sees("VERDICT", "UNSAFE", "Lesson")
	s.write("w")
	s.sees("SAFE in every timing")
	s.write("qq")
	s.sees("SANDBOX")
	s.write("q")
	if code := s.ends(); code != 0 {
		t.Errorf("q ended with %d", code)
	}
}

// A Korean locale speaks Korean, in ASCII lanes: the whole program shows there
// what the golden screens have, column by column.
func TestE2ELabInKorean(t *testing.T) {
	t.Parallel()
	for _, size := range []terminal{{cols: 80, rows: 24}, {cols: 120, rows: 40}} {
		size.env = []string{"XDG_CONFIG_HOME=" + t.TempDir(), "LANG=ko_KR.UTF-8"}
		s := open(t, size)
		shows := func(name string) {
			t.Helper()
			text, err := os.ReadFile(filepath.Join("..", "testdata", "golden", fmt.Sprintf("lab-%s-ko-%dx%d.txt", name, size.cols, size.rows)))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
			s.until("what the golden screen "+name+" has", func(screen string) bool {
				for i, line := range strings.Split(screen, "\n") {
					// The emulated terminal gives a wide letter one cell, so what stood
					// there before may stay behind the end of a full line.
					if i < len(want) && !strings.HasPrefix(line, want[i]) {
						return false
					}
				}
				return true
			})
		}
		s.sees("SANDBOX")
		s.write("4")
		s.sees("실습")
		s.write("\r")
		shows("begin")
		s.write("]]]]]]3]")
		shows("ask")
		s.write("1]")
		shows("reveal")
		s.write("@")
		shows("commands")
		s.write("@c")
		shows("compare")
		s.write("cG")
		shows("end")
		s.write("\x03")
		s.ends()
	}
}

// On a server that was named the lab asks, plays below its prefix, and leaves
// nothing.
func TestE2ELabOnAServer(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	server := redistest.Start(t)
	server.Do("SET", "app:key", "1")
	s := open(t, terminal{cols: 120, rows: 40, env: []string{"XDG_CONFIG_HOME=" + t.TempDir(), "LANG=C"}}, "-p", strconv.Itoa(server.Port))
	s.sees("live")
	s.write("4\r")
	s.sees("sandbox, virtual time")
	s.write("T")
	s.sees("Where is it to be played?", "> stay here, as it is")
	s.write("jj")
	s.sees("> 127.0.0.1:" + strconv.Itoa(server.Port) + ": below fencepost:lab:<random>: only")
	s.write("\r")
	s.sees("your Redis", "recorded", "fencepost:lab:")
	s.write("G")
	s.sees("UNSAFE")
	if n := server.Do("DBSIZE"); n != int64(1) {
		t.Errorf("%v keys are on the server after the lab", n)
	}
	s.write("\x03")
	s.ends()
}

// What is played by hand is saved where simulate finds it.
func TestE2ELabByHand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, terminal{env: []string{"XDG_CONFIG_HOME=" + dir, "LANG=C"}})
	s.sees("SANDBOX")
	s.write("4f")
	s.sees("by hand:", "guard: off")
	s.write("\r")
	s.sees("A, 10 s, number 33")
	s.write("s")
	s.sees("written:")
	s.write("\x03")
	s.ends()
	saved, err := filepath.Glob(filepath.Join(dir, "fencepost", "scenarios", "by-hand-*.toml"))
	if err != nil || len(saved) != 1 || !strings.HasSuffix(saved[0], ".toml") {
		t.Errorf("saved: %v, %v", saved, err)
	}
}
