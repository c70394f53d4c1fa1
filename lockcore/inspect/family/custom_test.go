package family

import (
	"strings"
	"testing"
)

func TestCustom(t *testing.T) {
	billing, err := Custom("billing", `^billing:(?P<resource>.+):guard$`, `^(?P<host>[^|]+)\|(?P<pid>\d+)\|(?P<fence>\d+)$`)
	if err != nil {
		t.Fatal(err)
	}
	s := text("billing:invoices:guard", "web-1|4242|17", 30000)
	founds := Group(Recognise(s, billing))
	if len(founds) != 1 || founds[0].Family != billing {
		t.Fatalf("found %+v", founds)
	}
	facts := newWorld([]*Sample{s}, moment).facts(&founds[0])
	r := row{founds[0], founds[0].Read(facts), facts}
	if got, want := show(&r), "billing:invoices:guard billing mutex held; web-1|4242|17 at web-1/4242; fence 17; ttl 30000"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r.Resource != "invoices" {
		t.Errorf("resource %q", r.Resource)
	}
	if !NameCandidate(s.Key, billing) {
		t.Error("its name alone is not worth a look")
	}
	for key, want := range map[string]string{"billing:invoices:guard": "the value does not match", "invoices": "the key does not match"} {
		v := explain(text(key, "x", 1), billing)
		if len(v.Claims) > 0 || !strings.Contains(v.Why, want) {
			t.Errorf("%s: %q", key, v.Why)
		}
	}
}

func TestCustomTellsTimes(t *testing.T) {
	f, err := Custom("timed", `^job:`, `^(?P<holder>\w+) (?P<since>\d+) (?P<deadline>\d+)$`)
	if err != nil {
		t.Fatal(err)
	}
	s := text("job:1", "w1 "+sec(-60)+" "+sec(-1), NoTTL)
	founds := Group(Recognise(s, f))
	facts := newWorld([]*Sample{s}, moment).facts(&founds[0])
	r := row{founds[0], founds[0].Read(facts), facts}
	if got, want := show(&r), "job:1 timed mutex lapsed; w1 since -1m0s; until -1s !deadline-passed"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCustomRefusesWhatCannotWork(t *testing.T) {
	for name, c := range map[string]struct{ name, key, value, want string }{
		"no name":          {"", "a", "", "needs a name"},
		"a name in use":    {"redisson", "a", "", "already"},
		"no key":           {"mine", "", "", "pattern for its keys"},
		"a broken pattern": {"mine", "(", "", "mine: key"},
		"a broken value":   {"mine", "a", "[", "mine: value"},
		"an unknown group": {"mine", "(?P<who>a)", "", "no group"},
	} {
		if _, err := Custom(c.name, c.key, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
