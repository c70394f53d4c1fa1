package tui

import (
	"strings"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/wire"
)

// tone is how a notice is meant.
type tone int

const (
	fine tone = iota
	warn
	bad
)

// notice is the line that says what became of something. A good one fades, a
// bad one stays until another comes.
type notice struct {
	text string
	tone tone
	at   time.Time
}

// noticeLife is how long a notice that is no warning stays.
const noticeLife = 12 * time.Second

func (m root) say(t tone, text string) root {
	m.notice = notice{text: wire.Clean(text), tone: t, at: m.now}
	return m
}

func (n notice) fade(now time.Time) notice {
	if n.tone == fine && now.Sub(n.at) > noticeLife {
		return notice{}
	}
	return n
}

// cleanError is an error's text, safe to print on one line, without the name of
// the package that it comes from; what is wrong with a connection stands in plain
// words.
func cleanError(err error) string {
	if words, ok := inspect.Reason(err); ok {
		return words
	}
	return wire.Clean(strings.TrimPrefix(err.Error(), "inspect: "))
}
