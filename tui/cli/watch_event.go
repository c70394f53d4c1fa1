package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/wire"
)

// eventDoc is one line of watch --json. Others rely on its fields; add to them,
// never change one.
type eventDoc struct {
	Schema      string  `json:"schema"`
	At          string  `json:"at"`
	Kind        string  `json:"kind"`
	RowID       *string `json:"row_id"`
	Key         *string `json:"key"`
	KeyB64      *string `json:"key_b64"`
	Field       *string `json:"field"`
	DB          int     `json:"db"`
	Node        string  `json:"node"`
	Holder      *string `json:"holder"`
	HolderB64   *string `json:"holder_b64"`
	Previous    *string `json:"previous"`
	PreviousB64 *string `json:"previous_b64"`
	TTLMS       *int64  `json:"ttl_ms"`
	PrevTTLMS   *int64  `json:"previous_ttl_ms"`
	Fence       *string `json:"fence"`
	Source      string  `json:"source"`
	Inferred    bool    `json:"inferred"`
	Note        *string `json:"note"`
}

func newEventDoc(e *inspect.Event) eventDoc {
	d := eventDoc{
		Schema: "fencepost/event/1", At: stamp(e.At), Kind: string(e.Kind), DB: e.DB, Node: wire.Escape(e.Node),
		TTLMS: ttlDoc(e.TTL), PrevTTLMS: ttlDoc(e.PrevTTL), Fence: opt(e.Fence),
		Source: string(e.Source), Inferred: e.Inferred, Note: opt(wire.Clean(e.Note)),
	}
	if e.Key != "" {
		row, key := e.RowID(), e.Key.String()
		d.RowID, d.Key, d.KeyB64 = &row, &key, b64(e.Key)
	}
	if e.HasField {
		field := e.Field.String()
		d.Field = &field
	}
	d.Holder, d.HolderB64 = whoDoc(e.Holder)
	d.Previous, d.PreviousB64 = whoDoc(e.Previous)
	return d
}

// whoDoc is null for somebody who is not known; a holder without a name is "".
func whoDoc(w inspect.Who) (id, raw *string) {
	if !w.Known {
		return nil, nil
	}
	text := w.ID.String()
	return &text, b64(w.ID)
}

func ttlDoc(ms int64) *int64 {
	if ms < 0 {
		return nil
	}
	return &ms
}

// one prints one event.
func (w *watcher) one(e *inspect.Event) error {
	if w.inv.opts.json {
		enc := json.NewEncoder(w.inv.out)
		enc.SetEscapeHTML(false)
		return enc.Encode(newEventDoc(e))
	}
	_, err := fmt.Fprintln(w.inv.out, w.line(e))
	return err
}

// line is an event for people.
func (w *watcher) line(e *inspect.Event) string {
	mark := ""
	if e.Inferred {
		mark = "(inferred)"
	}
	return strings.TrimSpace(fmt.Sprintf("%s  %-16s  %s", e.At.Format("15:04:05.000"), e.Words(), e.Text(w.where(e), mark)))
}

// where is the lock, with what tells it from others of its name.
func (w *watcher) where(e *inspect.Event) string {
	key := e.Name()
	if !w.several {
		return key
	}
	return strings.TrimSpace(fmt.Sprintf("%s/%d %s", wire.Clean(e.Node), e.DB, key))
}
