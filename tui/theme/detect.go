package theme

import "strings"

// Detect chooses a theme for an environment: NO_COLOR (no-color.org) keeps bold
// and reverse, TERM=dumb or no terminal leaves plain text.
func Detect(getenv func(string) string, terminal bool) Theme {
	depth := Sixteen
	switch {
	case !terminal || getenv("TERM") == "dumb" || getenv("TERM") == "":
		depth = Plain
	case getenv("NO_COLOR") != "":
		depth = Mono
	}
	return New(depth, ASCIILocale(getenv))
}

// ASCIILocale reports whether the locale calls for ASCII glyphs: it is not
// UTF-8, or it is Chinese, Japanese or Korean, where terminals and width tables
// disagree on whether a line or a bullet is one cell wide or two.
func ASCIILocale(getenv func(string) string) bool {
	locale := ""
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale = getenv(name); locale != "" {
			break
		}
	}
	lower := strings.ToLower(locale)
	if !strings.Contains(lower, "utf-8") && !strings.Contains(lower, "utf8") {
		return true
	}
	for _, cjk := range []string{"zh", "ja", "ko"} {
		if strings.HasPrefix(lower, cjk) {
			return true
		}
	}
	return false
}
