package tui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"fencepost/lockcore/inspect"
)

// formError is a mistake in what was typed.
type formError string

func (e formError) Error() string { return string(e) }

// errNoSpan says how a time is written; errEmpty, that none is there yet.
const (
	errNoSpan formError = "that is no time: a number with its unit, as 30s, 10m or 2h"
	errEmpty  formError = "for how long? A number with its unit, as 30s, 10m or 2h"
)

// span is the time that was typed. A number alone is seconds, as EXPIRE takes it.
func (f *form) span() (time.Duration, error) {
	text := ""
	for _, l := range f.lines {
		if l.kind == spanLine {
			text = strings.ReplaceAll(l.text.String(), " ", "")
		}
	}
	if text == "" {
		return 0, errEmpty
	}
	return parseSpan(text)
}

func parseSpan(text string) (time.Duration, error) {
	if digits := strings.TrimPrefix(text, "-"); strings.Trim(digits, "0123456789") == "" && digits != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if most := int64(math.MaxInt64 / time.Second); err != nil || n > most || n < -most {
			n = most // a year is more than enough to be refused
			if strings.HasPrefix(text, "-") {
				n = -most
			}
		}
		return time.Duration(n) * time.Second, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseInt(days, 10, 32); err == nil && n < 100_000 && n > -100_000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errNoSpan
	}
	return d, nil
}

// spanWords say what a time that was typed would mean.
func (f *form) spanWords(l *inspect.Lock, now time.Time) string {
	d, err := f.span()
	if err != nil || d <= 0 || d > inspect.MaxTTL {
		return ""
	}
	text := inspect.SpanOf(d)
	left, ends := l.Left(now)
	switch {
	case f.act != toTTL:
		return "for " + text + ", until " + now.Add(d).UTC().Format("15:04:05 UTC")
	case !ends:
		return text + ", instead of no expiry"
	case d < left:
		return fmt.Sprintf("%s: sooner than now, %s are left", text, inspect.SpanOf(left))
	}
	return fmt.Sprintf("%s: later than now, %s are left", text, inspect.SpanOf(max(0, left)))
}
