package cli

import (
	"slices"
	"strings"

	"fencepost/tui/config"
)

// mostMeant is how many names a mistyped one is answered with.
const mostMeant = 3

// meant asks whether one of the names that are near was meant, and is "" where
// none is.
func (inv *invocation) meant(name string) string {
	all, err := inv.stories()
	if err != nil && len(all) == 0 {
		return ""
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	near := nearest(name, names)
	if len(near) == 0 {
		return ""
	}
	return "is " + strings.Join(near, " or ") + " meant? "
}

// nearest are the names that somebody may have meant, the likeliest first: the
// one that differs in a letter or two or begins like it, then those that share
// most of its words.
func nearest(name string, names []string) []string {
	name = strings.ToLower(name)
	var out []string
	if best := config.Closest(name, names); best != "" {
		out = append(out, best)
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' || r == '.' })
	shared := func(other string) int {
		n := 0
		for _, w := range words {
			if len(w) > 1 && strings.Contains("-"+other, "-"+w) {
				n++
			}
		}
		return n
	}
	like := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return shared(n) == 0 || slices.Contains(out, n) })
	slices.SortStableFunc(like, func(a, b string) int { return shared(b) - shared(a) })
	most := 0
	for _, n := range slices.Concat(out, like) {
		most = max(most, shared(n))
	}
	for _, n := range like {
		if shared(n) == most && len(out) < mostMeant {
			out = append(out, n)
		}
	}
	return out
}
