package inspect

import (
	"slices"
	"strings"
)

// Relation says why several rows name one holder.
type Relation string

// OneLock: the library locks several keys under one token, so that they are one
// lock. OneHolder: one process, thread or registry holds several locks.
const (
	OneLock   Relation = "one lock, several keys"
	OneHolder Relation = "one holder, several locks"
)

// manyKeys are the libraries that take several resources under one token.
var manyKeys = []string{"node-redlock", "redislock", "redlock-universal"}

// minToken is the length from which an id that stands twice is no coincidence.
const minToken = 16

// Relate finds the rows that share a holder's id and tells each of the others
// (Peers). Short ids and constants are no evidence: "worker-1" may be anybody.
func Relate(locks []Lock) {
	type id struct{ family, token string }
	rows := map[id][]int{}
	for i := range locks {
		l := &locks[i]
		l.Peers, l.Relation = nil, ""
		for _, h := range l.Holders {
			token := string(h.ID)
			if len(token) < minToken || strings.Trim(token, token[:1]) == "" {
				continue
			}
			key := id{l.Family, token}
			if !slices.Contains(rows[key], i) {
				rows[key] = append(rows[key], i)
			}
		}
	}
	for key, at := range rows {
		if len(at) < 2 {
			continue
		}
		relation := OneHolder
		if slices.Contains(manyKeys, key.family) {
			relation = OneLock
		}
		for _, i := range at {
			locks[i].Relation = relation
			for _, j := range at {
				if j != i && !slices.Contains(locks[i].Peers, locks[j].RowID()) {
					locks[i].Peers = append(locks[i].Peers, locks[j].RowID())
				}
			}
			slices.Sort(locks[i].Peers)
		}
	}
}
