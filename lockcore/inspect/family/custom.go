package family

import (
	"fmt"
	"regexp"
	"slices"

	"fencepost/lockcore/wire"
)

// customGroups are the names that the groups of a user's own patterns may have.
var customGroups = []string{"resource", "holder", "host", "pid", "since", "deadline", "fence"}

// Custom returns a user's own family: string keys that match one pattern and,
// where value is not "", hold what matches the other. Both are regular
// expressions in Go's syntax (RE2), whose named groups tell what they catch:
// resource, holder, host, pid, since, deadline, fence. Without a group holder
// the whole value is the holder's id. The error names the pattern that is wrong.
func Custom(name, key, value string) (*Family, error) {
	if name == "" {
		return nil, fmt.Errorf("family: a family of your own needs a name")
	}
	if slices.ContainsFunc(all(), func(f *Family) bool { return f.ID == name }) {
		return nil, fmt.Errorf("family %s: there is one of that name already", name)
	}
	c := custom{}
	for _, p := range []struct {
		of, text string
		to       **regexp.Regexp
	}{{"key", key, &c.key}, {"value", value, &c.value}} {
		re, err := regexp.Compile(p.text)
		if err != nil {
			return nil, fmt.Errorf("family %s: %s: %w", name, p.of, err)
		}
		for _, g := range re.SubexpNames() {
			if g != "" && !slices.Contains(customGroups, g) {
				return nil, fmt.Errorf("family %s: %s: there is no group %q; use %q", name, p.of, g, customGroups)
			}
		}
		*p.to = re
	}
	if key == "" {
		return nil, fmt.Errorf("family %s: it needs a pattern for its keys", name)
	}
	return oneString(Family{
		ID: name, Label: name,
		Looks:  "your own pattern: a key like " + key,
		Named:  c.key.MatchString,
		Match:  c.match,
		WhyNot: c.whyNot,
		Decode: c.decode,
	}), nil
}

// custom is the two patterns of a user's own family.
type custom struct{ key, value *regexp.Regexp }

func (c *custom) match(s *Sample) []Claim {
	if !c.key.MatchString(s.Key) || !c.value.MatchString(s.Value) {
		return nil
	}
	return sure("your own pattern matches its key and value")
}

func (c *custom) whyNot(s *Sample) string {
	if !c.key.MatchString(s.Key) {
		return "the key does not match " + c.key.String()
	}
	return "the key matches, the value does not match " + c.value.String()
}

func (c *custom) decode(f *Facts) Reading {
	caught := map[string]string{}
	catch(caught, c.key, f.Main.Key)
	catch(caught, c.value, f.Main.Value)
	h := Holder{ID: wire.Raw(f.Main.Value), Host: caught["host"]}
	if id, ok := caught["holder"]; ok {
		h.ID = wire.Raw(id)
	}
	h.PID, _ = parseInt(caught["pid"])
	if ms, ok := timeIn(caught["since"]); ok {
		h.Since = at(ms)
	}
	r := single(Mutex, h)
	r.Resource = caught["resource"]
	if ms, ok := timeIn(caught["deadline"]); ok {
		r.endsAt(f, ms)
	}
	if fence := caught["fence"]; wire.ValidFence(fence) {
		r.Fence = fence
	}
	return r
}

// catch adds the named groups of a match.
func catch(into map[string]string, re *regexp.Regexp, text string) {
	m := re.FindStringSubmatch(text)
	for i, g := range re.SubexpNames() {
		if g != "" && i < len(m) && m[i] != "" {
			into[g] = m[i]
		}
	}
}
