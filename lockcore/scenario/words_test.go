package scenario_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/charmbracelet/x/ansi"

	"fencepost/lockcore/scenario"
)

// longest are the limits of words/limits.toml, in cells.
type longest struct {
	Table map[string]int `toml:"table"`
	Text  map[string]int `toml:"text"`
}

func limits(t *testing.T) longest {
	t.Helper()
	var l longest
	if _, err := toml.DecodeFile("words/limits.toml", &l); err != nil {
		t.Fatal(err)
	}
	return l
}

func tables(t *testing.T, lang string) map[string]map[string]string {
	t.Helper()
	var f map[string]any
	if _, err := toml.DecodeFile("words/"+lang+".toml", &f); err != nil {
		t.Fatal(err)
	}
	out := make(map[string]map[string]string)
	for name, table := range f {
		if name == "story" || name == "key" { // English has the keymap's own words
			continue
		}
		out[name] = make(map[string]string)
		for key, text := range table.(map[string]any) {
			out[name][key] = text.(string)
		}
	}
	return out
}

// What stands in braces, at its usual length.
var usual = strings.NewReplacer("{who}", "A", "{actor}", "A", "{number}", "34", "{mine}", "33", "{left}", "8.3 s",
	"{lease}", "10 s", "{value}", "70", "{n}", "8", "{of}", "10", "{t}", "12.1")

func TestEveryWordFitsItsLane(t *testing.T) {
	l := limits(t)
	for _, lang := range scenario.Languages() {
		for table, words := range tables(t, lang) {
			limit, limited := l.Table[table]
			for key, text := range words {
				if n := ansi.StringWidth(usual.Replace(text)); limited && n > limit {
					t.Errorf("%s: [%s] %s = %q is %d cells wide, more than %d", lang, table, key, text, n, limit)
				}
			}
		}
	}
}

func TestEveryStoryTextFits(t *testing.T) {
	l := limits(t)
	measure := func(lang, story, what, text string) {
		kind, _, _ := strings.Cut(what, " ")
		if n := ansi.StringWidth(text); n > l.Text[kind] {
			t.Errorf("%s: %s: %s is %d cells wide, more than %d: %q", lang, story, what, n, l.Text[kind], text)
		}
		if text == "" && kind != "provided" {
			t.Errorf("%s: %s: %s is not told", lang, story, what)
		}
	}
	for _, lang := range scenario.Languages() {
		words, err := scenario.Speak(lang)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range stories(t) {
			text := words.Text(s)
			for what, told := range map[string]string{"title": text.Title, "story": text.Story, "lesson": text.Lesson,
				"code": text.Code, "watch": text.Watch} {
				measure(lang, s.Name, what, told)
			}
			for _, w := range s.Worlds {
				measure(lang, s.Name, "label of "+w.Name, text.World[w.Name])
				measure(lang, s.Name, "provided of "+w.Name, text.Provided[w.Name])
			}
			for n, told := range text.Step {
				measure(lang, s.Name, "step "+n, told)
			}
			for i, a := range text.Asks {
				measure(lang, s.Name, fmt.Sprint("question ", i), a.Question)
				measure(lang, s.Name, fmt.Sprint("reveal ", i), a.Reveal)
				for _, answer := range a.Answers {
					measure(lang, s.Name, fmt.Sprint("answer ", i), answer)
				}
			}
		}
	}
}

var braces = regexp.MustCompile(`\{[a-z-]+\}`)

// A language says everything that English says, and fills in the same facts.
func TestEveryLanguageSaysTheSame(t *testing.T) {
	english := tables(t, "en")
	for _, lang := range scenario.Languages() {
		theirs := tables(t, lang)
		for table, words := range english {
			for key, text := range words {
				other, ok := theirs[table][key]
				if !ok {
					t.Errorf("%s: [%s] %s is missing", lang, table, key)
					continue
				}
				for _, fact := range braces.FindAllString(other, -1) {
					if !strings.Contains(text, fact) && !slices.Contains([]string{"{actor}"}, fact) {
						t.Errorf("%s: [%s] %s names %s, which English does not", lang, table, key, fact)
					}
				}
			}
		}
		for table, words := range theirs {
			for key := range words {
				if _, ok := english[table][key]; !ok {
					t.Errorf("%s: [%s] %s is said, and nobody asks for it", lang, table, key)
				}
			}
		}
	}
}

// Every outcome that a story comes to has words in its lane and for a handout.
func TestEveryOutcomeHasWords(t *testing.T) {
	for _, lang := range scenario.Languages() {
		words, err := scenario.Speak(lang)
		if err != nil {
			t.Fatal(err)
		}
		english := tables(t, lang)
		for _, s := range stories(t) {
			for i := range s.Worlds {
				run := once(t, s, &s.Worlds[i])
				for _, st := range run.Steps {
					told := words.Tell(s, run, st)
					if told == "" || braces.MatchString(told) || strings.Contains(told, ": "+st.Actor+" ") {
						t.Errorf("%s: %s/%s step %d is told as %q", lang, s.Name, run.World, st.N, told)
					}
					for _, c := range words.Cells(run, st) {
						if braces.MatchString(c.Does+c.Says) || c.Lane != scenario.NoLane && c.Says == "" {
							t.Errorf("%s: %s/%s step %d shows %q, %q", lang, s.Name, run.World, st.N, c.Does, c.Says)
						}
					}
					for _, d := range st.Dids {
						if _, ok := english["does"][string(d.Does)]; !ok {
							t.Errorf("%s: there is no word for %q", lang, d.Does)
						}
					}
				}
			}
		}
	}
}

func TestKoreanNeverMixesTwoWordsForOneThing(t *testing.T) {
	text, err := os.ReadFile("words/ko.toml")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, word := range []string{"잠금", "임대", "데드락", "연장", "세계", "이전 보유자"} {
			if strings.Contains(line, word) {
				t.Errorf("words/ko.toml:%d: %q is not the word of the glossary: %s", i+1, word, line)
			}
		}
	}
}

func TestLanguageOfALocale(t *testing.T) {
	for value, want := range map[string]string{"ko_KR.UTF-8": "ko", "ko": "ko", "en_GB.UTF-8": "en", "C": "en", "": "en", "fr_FR": "en"} {
		got := scenario.LanguageOf(func(name string) string {
			if name == "LANG" {
				return value
			}
			return ""
		})
		if got != want {
			t.Errorf("LANG=%s speaks %s, not %s", value, got, want)
		}
	}
}
