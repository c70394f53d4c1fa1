package lockcore

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/redistest"
)

// variant is one mistake: changes of our own code, and the tests that find it.
type variant struct {
	id, says    string
	short, race bool
	tests       []string
	files       map[string]string // path below this package, and its wrong text
}

// The tests are worth something only if they fail where the code is wrong. So
// each mistake of testdata/wrong is built in, and its tests must fail.
func TestWrongVariantsAreCaught(t *testing.T) {
	redistest.Need(t)
	long := redistest.Rounds(0, 1) == 1
	only := os.Getenv("LOCKCORE_WRONG") // an id, to look at one
	for _, v := range readVariants(t) {
		if only != "" && v.id != only || only == "" && !long && !v.short {
			continue
		}
		t.Run(v.id, func(t *testing.T) {
			binary := v.build(t)
			for _, name := range v.tests {
				if out, failed := run(t, binary, name); !failed {
					t.Errorf("%s\n%s does not find it:\n%s", v.says, name, out)
				}
			}
		})
	}
}

// Every hazard has a test that is named after it.
func TestEveryHazardHasATest(t *testing.T) {
	all := ""
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		all += readFile(t, file)
	}
	for n := 1; n <= 74; n++ {
		id := "func TestH" + string(rune('0'+n/10)) + string(rune('0'+n%10)) + "_"
		if n == 68 || n == 69 { // of quorums over several servers, which lockcore does not have
			continue
		}
		if !strings.Contains(all, id) {
			t.Errorf("no test %s…", id)
		}
	}
	for _, v := range readVariants(t) {
		for _, name := range v.tests {
			if !strings.Contains(all, "func "+name+"(") {
				t.Errorf("%s: there is no %s", v.id, name)
			}
		}
	}
}

// build makes a test binary of the package with the mistake in it.
func (v *variant) build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for path, text := range v.files {
		right, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		wrong := filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(wrong, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[right] = wrong
	}
	overlay := filepath.Join(dir, "overlay.json")
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, data, 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "wrong.test")
	args := []string{"test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, "."}
	if v.race {
		args = slices.Insert(args, 1, "-race")
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("the wrong variant does not build: %v\n%s", err, out)
	}
	return binary
}

// run runs one test of a wrong binary. A hang is a failure too.
func run(t *testing.T, binary, name string) (out string, failed bool) {
	t.Helper()
	cmd := exec.Command(binary, "-test.run", "^"+name+"$", "-test.timeout", (30 * time.Second).String())
	cmd.Dir = "."
	data, err := cmd.CombinedOutput()
	if strings.Contains(string(data), "no tests to run") {
		t.Fatalf("there is no test %s", name)
	}
	return string(data), err != nil
}

// readVariants reads testdata/wrong; see its README.
func readVariants(t *testing.T) (all []*variant) {
	t.Helper()
	files, err := filepath.Glob("testdata/wrong/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no wrong variants: %v", err)
	}
	for _, file := range files {
		for _, block := range strings.Split("\n"+readFile(t, file), "\n=== ")[1:] {
			all = append(all, parseVariant(t, block))
		}
	}
	return all
}

func parseVariant(t *testing.T, block string) *variant {
	t.Helper()
	v := &variant{files: map[string]string{}}
	lines := strings.Split(block, "\n")
	v.id, v.says, _ = strings.Cut(lines[0], " ")
	var file string
	for i := 1; i < len(lines); i++ {
		word, rest, _ := strings.Cut(lines[i], " ")
		switch word {
		case "":
		case "short":
			v.short = true
		case "race":
			v.race = true
		case "tests":
			v.tests = strings.Fields(rest)
		case "file":
			file = rest
			if v.files[file] == "" {
				v.files[file] = readFile(t, file)
			}
		case "---":
			middle := i + slices.Index(lines[i:], "--- wrong")
			end := i + slices.Index(lines[i:], "--- end")
			right := strings.Join(lines[i+1:middle], "\n")
			wrong := strings.Join(lines[middle+1:end], "\n")
			if n := strings.Count(v.files[file], right); n != 1 {
				t.Errorf("%s: the right text stands in %s %d times:\n%s", v.id, file, n, right)
			}
			v.files[file] = strings.Replace(v.files[file], right, wrong, 1)
			i = end
		default:
			t.Errorf("%s: line %q", v.id, lines[i])
		}
	}
	return v
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
