package inspect

import (
	"context"
	"strconv"
	"strings"
)

// notifyLevel is how much of what happens a server tells by notifications.
type notifyLevel int

const (
	notifyOff  notifyLevel = iota // nothing, or it would not say
	notifySome                    // some kinds of events are missing
	notifyAll                     // all that can happen to a lock
)

// notifyNeeds are the letters of notify-keyspace-events without which changes to
// a lock go untold: generic commands, strings, hashes, sorted sets, sets, lists,
// expiry and eviction.
const notifyNeeds = "g$hzslxe"

// notifyLevelOf reads the setting. Only keyspace channels can be filtered by
// prefix at the server, so K must be among the letters.
func notifyLevelOf(flags string) notifyLevel {
	if !strings.Contains(flags, "K") {
		return notifyOff
	}
	if strings.Contains(flags, "A") {
		return notifyAll
	}
	level, some := notifyAll, false
	for _, c := range notifyNeeds {
		if strings.ContainsRune(flags, c) {
			some = true
		} else if c != 's' && c != 'l' { // hardly any lock is a set or a list
			level = notifySome
		}
	}
	if !some {
		return notifyOff
	}
	return level
}

// notifications asks what the server tells. It is never switched on from here.
func notifications(ctx context.Context, n Node) notifyLevel {
	reply, err := n.Client.ConfigGet(ctx, "notify-keyspace-events").Result()
	if err != nil {
		return notifyOff
	}
	return notifyLevelOf(reply["notify-keyspace-events"])
}

// mostPatterns is how many channel patterns are subscribed to; a server compares
// every event with each.
const mostPatterns = 16

// notifyPatterns are the patterns to try, in turn: only what is wanted; all keys
// of the database; all there is. A user may be allowed a pattern only exactly as
// it was granted, and the last is how it is usually granted.
func notifyPatterns(db int, prefixes []string) [][]string {
	channel := "__keyspace@" + strconv.Itoa(db) + "__:"
	var out [][]string
	if len(prefixes) > 0 && len(prefixes) <= mostPatterns {
		var wanted []string
		for _, p := range prefixes {
			wanted = append(wanted, channel+escapeGlob(p)+"*")
		}
		out = append(out, wanted)
	}
	return append(out, []string{channel + "*"}, []string{"__key*@*__:*"})
}

// escapeGlob makes a pattern that matches only these bytes.
func escapeGlob(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(`*?[]\^-`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
