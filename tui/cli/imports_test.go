package cli

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport says which packages of the module each package may import. A
// package that is not here may import none.
var mayImport = map[string][]string{
	"":                        {"tui/cli"},
	"lockcore":                {"lockcore/wire", "lockcore/oneshot"},
	"lockcore/oneshot":        {"lockcore/wire"},
	"lockcore/target":         {"lockcore/wire"},
	"lockcore/inspect":        {"lockcore", "lockcore/wire", "lockcore/oneshot", "lockcore/inspect/family"},
	"lockcore/inspect/family": {"lockcore/wire"},
	"lockcore/doctor":         {"lockcore/wire"},
	"lockcore/scenario":       {"lockcore/wire"},
	"lockcore/labrun":         {"lockcore/wire"},
	"lockcore/audit":          {"lockcore/wire", "lockcore/inspect", "lockcore/inspect/family"},
	"lockcore/sandbox":        {"lockcore/wire"},
	"tui": {
		"keymap", "tui/table", "tui/theme", "lockcore/inspect", "lockcore/inspect/family", "lockcore/scenario",
		"lockcore/doctor", "lockcore/audit", "lockcore/wire",
	},
	"tui/config": {"lockcore/wire"},
	"tui/theme":  {"keymap"},
	"tui/table":  {"tui/theme"},
	// tui/cli may import everything but redistest.
}

// mayNotImport says which libraries are not for a package.
var mayNotImport = map[string][]string{
	"lockcore/wire":           {"github.com/redis/", "net", "os", "os/exec"},
	"lockcore/inspect/family": {"github.com/redis/", "net", "os", "os/exec"},
	"lockcore/scenario":       {"github.com/redis/", "net", "os/exec"},
	"lockcore/audit":          {"github.com/redis/"},
	"keymap":                  {"github.com/redis/", "github.com/charmbracelet/", "net", "os"},
	"tui":                     {"github.com/redis/", "github.com/spf13/pflag"},
	"tui/table":               {"github.com/redis/", "github.com/spf13/pflag"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

// local is a package's path inside the module; ok is false for others.
func local(path string) (string, bool) {
	if path == "fencepost" {
		return "", true
	}
	return strings.CutPrefix(path, "fencepost/")
}

func TestImportDirections(t *testing.T) {
	for _, p := range goList(t) {
		name, _ := local(p.ImportPath)
		for _, imp := range p.Imports {
			to, ours := local(imp)
			switch {
			case ours && to == "lockcore/redistest":
				t.Errorf("%s imports %s, which is for tests", p.ImportPath, imp)
			case ours && name != "tui/cli" && name != "lockcore/redistest" && !slices.Contains(mayImport[name], to):
				t.Errorf("%s may not import %s", p.ImportPath, imp)
			case !ours && slices.ContainsFunc(mayNotImport[name], func(lib string) bool {
				return imp == lib || (strings.HasSuffix(lib, "/") && strings.HasPrefix(imp, lib))
			}):
				t.Errorf("%s may not import %s", p.ImportPath, imp)
			}
		}
	}
}

// Shipped code knows no library that is for tests.
func TestNoTestLibraryIsShipped(t *testing.T) {
	for _, p := range goList(t) {
		if p.ImportPath == "fencepost/lockcore/redistest" {
			continue
		}
		for _, imp := range p.Imports {
			for _, lib := range []string{"testing", "pgregory.net/rapid", "github.com/google/go-cmp", "github.com/creack/pty", "github.com/hinshun/vt10x", "github.com/anishathalye/porcupine"} {
				if imp == lib || strings.HasPrefix(imp, lib+"/") {
					t.Errorf("%s imports %s", p.ImportPath, imp)
				}
			}
		}
	}
}

func goList(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "fencepost/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 5 {
		t.Fatalf("go list names only %d packages", len(all))
	}
	return all
}
