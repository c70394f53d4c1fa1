package cli

import (
	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/target"
	"fencepost/lockcore/wire"
)

// inspectDoc is the document of inspect --json.
type inspectDoc struct {
	Schema  string           `json:"schema"`
	Server  serverDoc        `json:"server"`
	Key     string           `json:"key"`
	KeyB64  *string          `json:"key_b64"`
	Type    string           `json:"type"`
	Len     int64            `json:"len"`
	IdleS   *int64           `json:"idle_s"` // untouched for so long before this look
	Locks   []inspectLockDoc `json:"locks"`
	Explain []verdictDoc     `json:"explain,omitempty"`
}

type inspectLockDoc struct {
	lockDoc
	Hold    *holdDoc  `json:"hold"`
	Release []stepDoc `json:"release"`
	Guard   *string   `json:"guard"`
	// NoRelease says why there is no release.
	NoRelease *string `json:"no_release"`
}

type holdDoc struct {
	By     string `json:"by"`
	Reason string `json:"reason"`
	Since  string `json:"since"`
	Until  string `json:"until"`
}

type stepDoc struct {
	Says    string `json:"says"`
	Node    string `json:"node"`
	Command string `json:"command"`
}

type verdictDoc struct {
	Family     string `json:"family"`
	Matched    bool   `json:"matched"`
	Confidence string `json:"confidence"`
	Why        string `json:"why"`
}

func (s *seen) doc(t *target.Target, key string, explain bool) inspectDoc {
	d := inspectDoc{
		Schema: "fencepost/inspect/1", Server: newServerDoc(t), Key: wire.Escape(key), KeyB64: b64(wire.Raw(key)),
		Type: string(s.sample.Type), Len: s.sample.Len, Locks: []inspectLockDoc{},
	}
	if s.sample.HasIdle {
		d.IdleS = &s.sample.Idle
	}
	for i := range s.locks {
		l := inspectLockDoc{lockDoc: newLockDoc(&s.locks[i]), Release: []stepDoc{}, NoRelease: opt(wire.Clean(s.noPlan[i])), Guard: opt(s.plans[i].Guard.String())}
		if n := s.holds[i]; n != nil {
			l.Hold = &holdDoc{wire.Clean(n.By), wire.Clean(n.Reason), stamp(n.Since), stamp(n.Until)}
		}
		for _, step := range s.plans[i].Steps {
			l.Release = append(l.Release, stepDoc{step.Says, wire.Escape(step.Node), step.Call.Brief()})
		}
		d.Locks = append(d.Locks, l)
	}
	if explain {
		for _, v := range s.verdicts {
			d.Explain = append(d.Explain, newVerdictDoc(v))
		}
	}
	return d
}

func newVerdictDoc(v family.Verdict) verdictDoc {
	d := verdictDoc{Family: v.Family.ID, Matched: len(v.Claims) > 0, Why: wire.Clean(v.Why)}
	best := family.Unlikely
	for _, c := range v.Claims {
		best = max(best, c.Confidence)
	}
	if d.Matched {
		d.Confidence = best.String()
	}
	return d
}
