package cli

import (
	"encoding/base64"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// listDoc is the document of list --json. Others rely on its fields; add to
// them, never change one.
type listDoc struct {
	Schema   string      `json:"schema"`
	Server   serverDoc   `json:"server"`
	Coverage coverageDoc `json:"coverage"`
	Locks    []lockDoc   `json:"locks"`
}

type serverDoc struct {
	Addr         string `json:"addr"`
	Mode         string `json:"mode"`
	Role         string `json:"role"`
	Version      string `json:"version"`
	User         string `json:"user"`
	Env          string `json:"env"`
	TimeOffsetMS *int64 `json:"time_offset_ms"`
	// Unknown says what could not be learned of the server, each once.
	Unknown []string `json:"unknown"`
}

type coverageDoc struct {
	Match          []string `json:"match"`
	DB             []int    `json:"db"`
	OtherDBs       []int    `json:"other_dbs"`
	Depth          string   `json:"depth"`
	Scanned        int64    `json:"scanned"`
	Keyspace       int64    `json:"keyspace"`
	Nodes          int      `json:"nodes"`
	NodesScanned   int      `json:"nodes_scanned"`
	Complete       bool     `json:"complete"`
	PossibleHidden int64    `json:"possible_hidden"`
	Errors         []string `json:"errors"`
}

type lockDoc struct {
	RowID         string       `json:"row_id"`
	Key           string       `json:"key"`
	KeyB64        *string      `json:"key_b64"`
	Field         *string      `json:"field"`
	FieldB64      *string      `json:"field_b64"`
	DB            int          `json:"db"`
	Node          string       `json:"node"`
	Resource      string       `json:"resource"`
	Family        string       `json:"family"`
	Label         string       `json:"label"`
	Kind          string       `json:"kind"`
	Confidence    string       `json:"confidence"`
	Candidates    []string     `json:"candidates"`
	Type          string       `json:"type"`
	Holders       []holderDoc  `json:"holders"`
	Waiters       *waitersDoc  `json:"waiters"`
	Fence         *string      `json:"fence"`
	TTLMS         *int64       `json:"ttl_ms"`
	Persistent    bool         `json:"persistent"`
	Deadline      *string      `json:"deadline"`
	SampledAt     string       `json:"sampled_at"`
	UncertaintyMS int64        `json:"uncertainty_ms"`
	State         string       `json:"state"`
	Companions    []string     `json:"companions"`
	Warnings      []warningDoc `json:"warnings"`
	Note          *string      `json:"note"`
	Peers         []string     `json:"peers"`    // row ids that name the same holder
	Relation      *string      `json:"relation"` // why
}

type holderDoc struct {
	ID    string  `json:"id"`
	IDB64 *string `json:"id_b64"`
	Count int64   `json:"count"`
	Mode  *string `json:"mode"`
	Label *string `json:"label"`
	Host  *string `json:"host"`
	PID   *int64  `json:"pid"`
	Since *string `json:"since"`
	TTLMS *int64  `json:"ttl_ms"`
}

type waitersDoc struct {
	Count *int64   `json:"count"`
	How   string   `json:"how"`
	IDs   []string `json:"ids"`
}

type warningDoc struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

func newLockDoc(l *inspect.Lock) lockDoc {
	d := lockDoc{
		RowID: l.RowID(), Key: l.Key.String(), KeyB64: b64(l.Key), DB: l.DB, Node: wire.Escape(l.Node),
		Resource: l.Resource.String(), Family: l.Family, Label: wire.Clean(l.Label),
		Kind: string(l.Kind), Confidence: l.Confidence.String(),
		Candidates: list(l.Candidates), Type: string(l.Type), Holders: holderDocs(l.Holders), Waiters: newWaitersDoc(l.Waiters),
		Fence: opt(l.Fence), Persistent: l.Persistent, SampledAt: stamp(l.SampledAt),
		UncertaintyMS: l.UncertaintyMS(), State: string(l.State),
		Companions: rawList(l.Companions), Warnings: warningDocs(l.Warnings), Note: opt(wire.Clean(l.Note)),
		Peers: list(l.Peers), Relation: opt(string(l.Relation)),
	}
	if l.HasField {
		field := l.Field.String()
		d.Field, d.FieldB64 = &field, b64(l.Field)
	}
	if !l.Persistent {
		d.TTLMS = &l.TTL
	}
	if l.Dated() {
		at := stamp(l.Deadline)
		d.Deadline = &at
	}
	return d
}

func holderDocs(holders []family.Holder) []holderDoc {
	docs := make([]holderDoc, len(holders))
	for i, h := range holders {
		docs[i] = holderDoc{
			ID: h.ID.String(), IDB64: b64(h.ID), Count: max(h.Count, 1),
			Mode: opt(h.Mode), Label: opt(wire.Clean(h.Label)), Host: opt(wire.Clean(h.Host)),
		}
		if h.PID != 0 {
			docs[i].PID = &h.PID
		}
		if !h.Since.IsZero() {
			since := stamp(h.Since)
			docs[i].Since = &since
		}
		if h.HasTTL {
			docs[i].TTLMS = &h.TTL
		}
	}
	return docs
}

func newWaitersDoc(w *family.Waiters) *waitersDoc {
	if w == nil {
		return nil
	}
	d := &waitersDoc{How: w.How, IDs: rawList(w.IDs)}
	if w.Count >= 0 {
		d.Count = &w.Count
	}
	return d
}

func warningDocs(warnings []family.Warning) []warningDoc {
	docs := make([]warningDoc, len(warnings))
	for i, w := range warnings {
		docs[i] = warningDoc{w.Code, wire.Clean(w.Text)}
	}
	return docs
}

func newCoverageDoc(c inspect.Coverage) coverageDoc {
	return coverageDoc{
		Match: list(c.Match), DB: list(c.DBs), OtherDBs: list(c.OtherDBs), Depth: string(c.Depth),
		Scanned: c.Scanned, Keyspace: c.Keyspace, Nodes: c.Nodes, NodesScanned: c.NodesScanned,
		Complete: c.Complete, PossibleHidden: c.PossibleHidden, Errors: list(c.Errors),
	}
}

// stamp is a moment as JSON carries it: UTC, to the millisecond.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// opt is null for an empty text.
func opt(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// b64 carries bytes that are no UTF-8; null where the escaped form says all.
func b64(r wire.Raw) *string {
	if r.ValidUTF8() {
		return nil
	}
	s := base64.StdEncoding.EncodeToString([]byte(r))
	return &s
}

// list is never null in JSON.
func list[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}

func rawList(in []wire.Raw) []string {
	out := make([]string, len(in))
	for i, r := range in {
		out[i] = r.String()
	}
	return out
}
