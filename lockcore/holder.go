package lockcore

import (
	"fmt"
	"time"

	"fencepost/lockcore/wire"
)

// Holder is who has a lock, as the lock's value tells. Only Token and Fence
// identify; the rest is what the holder said of itself.
type Holder struct {
	Token string
	Fence Fence
	Since time.Time // by the server's clock
	Host  string
	PID   int64
	Label string
	Text  string
	// Raw is the value where lockcore did not write it; the other fields are
	// then empty. It may hold any bytes: printing it escapes them.
	Raw wire.Raw
}

// parseHolder reads a lock's value.
func parseHolder(raw wire.Raw) Holder {
	v, ok := wire.ParseValue(string(raw))
	if !ok {
		return Holder{Raw: raw}
	}
	fence, err := ParseFence(v.Fence)
	if err != nil {
		return Holder{Raw: raw}
	}
	return Holder{
		Token: v.Token, Fence: fence, Since: v.Since,
		Host: v.Host, PID: v.PID, Label: v.Label, Text: v.Text,
	}
}

// none reports whether this is nobody.
func (h Holder) none() bool { return h.Token == "" && h.Raw == "" }

// String is one line for people, safe to print.
func (h Holder) String() string {
	if h.Token == "" {
		return fmt.Sprintf("a value that lockcore did not write: %v", h.Raw)
	}
	s := fmt.Sprintf("%s/%d", wire.Escape(h.Host), h.PID)
	if h.Label != "" {
		s += " (" + wire.Escape(h.Label) + ")"
	}
	return fmt.Sprintf("%s, fence %v, since %s", s, h.Fence, h.Since.Format(time.RFC3339))
}
