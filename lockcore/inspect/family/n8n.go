package family

import "strings"

// n8n elects one main instance, n8n:main_instance_leader, whose value is that
// host's id, and takes leases n8n:lock:NAMESPACE:SHA-256 (packages/cli/src/
// scaling). The prefix can be another.
func n8n() *Family {
	const leader = ":main_instance_leader"
	return oneString(Family{
		ID: "n8n", Label: "n8n lock",
		Looks: "a host's id under n8n:main_instance_leader, or a random UUID under n8n:lock:",
		Marks: []string{leader, "n8n:lock:"},
		Match: func(s *Sample) []Claim {
			if strings.HasSuffix(s.Key, leader) && short(s) {
				return sure("the name main_instance_leader")
			}
			i := strings.Index(s.Key, ":lock:")
			if i < 0 || !isUUID4(s.Value) {
				return nil
			}
			switch at := strings.LastIndexByte(s.Key, ':'); {
			case !isHex(s.Key[at+1:], 64):
				return nil
			case strings.HasSuffix(s.Key[:i], "n8n"):
				return sure("n8n:lock:, a SHA-256 and a random UUID")
			}
			return likely(":lock:, a SHA-256 and a random UUID")
		},
		Decode: func(f *Facts) Reading {
			if !strings.HasSuffix(f.Main.Key, leader) {
				r := token(f, Mutex)
				r.Label, r.Note = "n8n lease", "the holder's work is aborted at its next renewal"
				_, r.Resource, _ = strings.Cut(f.Main.Key, ":lock:")
				return r
			}
			r := token(f, Lease)
			r.Label, r.Note = "n8n leader", "another main instance takes over within seconds; this one steps down at its next check"
			if host, ok := strings.CutPrefix(f.Main.Value, "main-"); ok {
				r.Holders[0].Host = host
			}
			return r
		},
	})
}
