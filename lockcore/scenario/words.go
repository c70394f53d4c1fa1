package scenario

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

//go:embed words/*.toml
var wordFiles embed.FS

// ErrLanguage says that the lab does not speak a language.
var ErrLanguage = errors.New("scenario: the lab does not speak that language")

// Words are what the lab says, in one language.
type Words struct {
	Lang   string
	tables map[string]map[string]string // by table, then by key
	texts  map[string]Text              // the stories, where they are told otherwise than in their own files
}

// wordFile is a language as it stands in TOML.
type wordFile struct {
	UI     map[string]string    `toml:"ui"`
	Hint   map[string]string    `toml:"hint"`
	Key    map[string]string    `toml:"key"`
	Legend map[string]string    `toml:"legend"`
	Rule   map[string]string    `toml:"rule"`
	Class  map[string]string    `toml:"class"`
	Does   map[string]string    `toml:"does"`
	Says   map[string]string    `toml:"says"`
	Store  map[string]string    `toml:"store"`
	Thinks map[string]string    `toml:"thinks"`
	Tell   map[string]string    `toml:"tell"`
	Story  map[string]storyFile `toml:"story"`
}

type storyFile struct {
	Title    string            `toml:"title"`
	Story    string            `toml:"story"`
	Lesson   string            `toml:"lesson"`
	Code     string            `toml:"code"`
	Watch    string            `toml:"watch"`
	World    map[string]string `toml:"world"`
	Provided map[string]string `toml:"provided"`
	Step     map[string]string `toml:"step"`
	Asks     []struct {
		Question string   `toml:"question"`
		Answers  []string `toml:"answers"`
		Reveal   string   `toml:"reveal"`
	} `toml:"ask"`
}

// Languages are those that the lab speaks.
func Languages() []string {
	files, _ := wordFiles.ReadDir("words") // embedded: it is there
	var out []string
	for _, f := range files {
		if name := strings.TrimSuffix(f.Name(), ".toml"); name != "limits" {
			out = append(out, name)
		}
	}
	return out
}

// Speak returns the words of a language, as "en"; ErrLanguage where there are none.
func Speak(lang string) (*Words, error) {
	if !slices.Contains(Languages(), lang) {
		return nil, fmt.Errorf("%w; it speaks %s", ErrLanguage, strings.Join(Languages(), ", "))
	}
	text, err := wordFiles.ReadFile("words/" + lang + ".toml")
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	var f wordFile
	meta, err := toml.Decode(string(text), &f)
	if err != nil {
		return nil, fmt.Errorf("scenario: words/%s.toml: %w", lang, err)
	}
	if extra := meta.Undecoded(); len(extra) > 0 {
		return nil, fmt.Errorf("scenario: words/%s.toml: nothing is called %s", lang, extra[0])
	}
	w := &Words{Lang: lang, texts: make(map[string]Text), tables: map[string]map[string]string{
		"ui": f.UI, "hint": f.Hint, "key": f.Key, "legend": f.Legend, "rule": f.Rule, "class": f.Class, "does": f.Does, "says": f.Says, "store": f.Store, "thinks": f.Thinks, "tell": f.Tell,
	}}
	for name, s := range f.Story {
		w.texts[name] = s.text()
	}
	return w, nil
}

func (s storyFile) text() Text {
	t := Text{Title: s.Title, Story: s.Story, Lesson: s.Lesson, Code: s.Code, Watch: s.Watch,
		World: s.World, Provided: s.Provided, Step: s.Step}
	for _, a := range s.Asks {
		t.Asks = append(t.Asks, AskText{Question: a.Question, Answers: a.Answers, Reveal: a.Reveal})
	}
	return t
}

// LanguageOf is the language of a locale's environment: LC_ALL, LC_MESSAGES,
// LANG, the first that is set.
func LanguageOf(env func(string) string) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := env(name); v != "" {
			lang, _, _ := strings.Cut(v, "_")
			lang, _, _ = strings.Cut(lang, ".")
			if slices.Contains(Languages(), lang) {
				return lang
			}
			return "en"
		}
	}
	return "en"
}

// Say is a text of the interface; pairs are names in braces and what they stand for.
func (w *Words) Say(key string, pairs ...string) string { return w.say("ui", key, pairs...) }

// Rule is a rule's name for people.
func (w *Words) Rule(r Rule) string { return w.say("rule", string(r)) }

// Class is a class of rules for people.
func (w *Words) Class(c Class) string { return w.say("class", string(c)) }

// Seconds is a length of time for people, to a tenth of a second.
func (w *Words) Seconds(d time.Duration) string {
	return w.Say("seconds", "t", strconv.FormatFloat(d.Seconds(), 'f', 1, 64))
}

// Thinks is a belief for people.
func (w *Words) Thinks(b Belief) string { return w.say("thinks", string(b)) }

func (w *Words) has(table, key string) bool {
	_, ok := w.tables[table][key]
	return ok
}

func (w *Words) say(table, key string, pairs ...string) string {
	text, ok := w.tables[table][key]
	if !ok {
		return key // a word that nobody wrote shows as what it is
	}
	return fill(text, pairs)
}

// fill puts what names in braces stand for into a text, in one pass: what is put
// in is not looked at again.
func fill(text string, pairs []string) string {
	if len(pairs) == 0 || !strings.Contains(text, "{") {
		return text
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			b.WriteString(strings.TrimPrefix(text, before))
			return b.String()
		}
		text = after
		b.WriteString(fact(pairs, name))
	}
}

// fact is what a name stands for; a name that nobody knows stays as it is.
func fact(pairs []string, name string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] == name {
			return pairs[i+1]
		}
	}
	return "{" + name + "}"
}

// Text is what a story tells in this language; what is not told in it is told
// as in the story's own file.
func (w *Words) Text(s *Scenario) Text {
	own := s.Text
	t, ok := w.texts[s.Name]
	if !ok {
		return own
	}
	for _, pair := range []struct{ to, from *string }{
		{&t.Title, &own.Title}, {&t.Story, &own.Story}, {&t.Lesson, &own.Lesson}, {&t.Code, &own.Code}, {&t.Watch, &own.Watch},
	} {
		if *pair.to == "" {
			*pair.to = *pair.from
		}
	}
	t.World = over(own.World, t.World)
	t.Provided = over(own.Provided, t.Provided)
	t.Step = over(own.Step, t.Step)
	if len(t.Asks) != len(own.Asks) {
		t.Asks = own.Asks
	}
	return t
}

// over lays one table over another.
func over(under, top map[string]string) map[string]string {
	out := maps.Clone(under)
	if out == nil {
		out = make(map[string]string)
	}
	maps.Copy(out, top)
	return out
}
