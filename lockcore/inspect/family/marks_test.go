package family

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// nameCandidateSlowly asks everybody about every name.
func nameCandidateSlowly(key string) bool {
	if SmellsLikeLock(key) {
		return true
	}
	for _, f := range All() {
		if (f.Named != nil || len(f.Marks) > 0) && f.knows(key) {
			return true
		}
	}
	return false
}

// One pass for all marks misses no name that somebody knows.
func TestMarksMissNothing(t *testing.T) {
	words := lockishWords(t)
	for _, f := range All() {
		words = append(words, f.Marks...)
		for _, m := range f.Marks {
			if len(m) < 2 {
				t.Errorf("%s: the mark %q is too short", f.ID, m)
			}
		}
	}
	for _, c := range readCorpus(t) {
		for _, s := range c.samples() {
			words = append(words, s.Key)
		}
	}
	words = append(words, "}:timeout", ".writer", ".readers", "_settings", "}:time", "{a}", "user", "LO", "l", "Ö", "\xff", ":0:", "unlock",
		strings.Repeat("a", 37), "framework/schedule-", strings.Repeat("0", 40), "horizon:notification:", ":lock")
	for _, w := range words {
		if NameCandidate(w) != nameCandidateSlowly(w) {
			t.Errorf("%q: %v at once, %v slowly", w, NameCandidate(w), nameCandidateSlowly(w))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var key strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			w := rapid.SampledFrom(words).Draw(t, "word")
			switch rapid.IntRange(0, 5).Draw(t, "how") {
			case 0:
				w = strings.ToUpper(w)
			case 1:
				w = w[rapid.IntRange(0, len(w)).Draw(t, "from"):]
			case 2:
				w = w[:rapid.IntRange(0, len(w)).Draw(t, "to")]
			}
			key.WriteString(w)
		}
		if k := key.String(); NameCandidate(k) != nameCandidateSlowly(k) {
			t.Fatalf("%q: %v at once, %v slowly", k, NameCandidate(k), nameCandidateSlowly(k))
		}
	})
}

// lockishWords are the words of wordKind, from its source.
func lockishWords(t *testing.T) []string {
	file, err := parser.ParseFile(gotoken.NewFileSet(), "names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	ast.Inspect(file, func(n ast.Node) bool {
		c, ok := n.(*ast.CaseClause)
		if !ok {
			return true
		}
		for _, e := range c.List {
			if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == gotoken.STRING {
				w, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				words = append(words, w)
			}
		}
		return true
	})
	if len(words) < 50 {
		t.Fatalf("only %q", words)
	}
	return words
}
