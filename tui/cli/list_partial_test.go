package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"fencepost/lockcore/redistest"
)

// One master of three hangs: the locks of the others are listed, the one that
// hangs is named, and what it has is not said not to be there.
func TestListWithADeadMaster(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 3)
	for _, s := range servers {
		s.Do("config", "set", "cluster-require-full-coverage", "no")
	}
	var mine, theirs []string
	for i := range 12 {
		key := fmt.Sprint("order-lock:", i)
		owner := slices.IndexFunc(servers, func(s *redistest.Server) bool { _, err := s.Try("exists", key); return err == nil })
		servers[owner].Do("hset", key, threadA, 1)
		if owner == 1 {
			theirs = append(theirs, key)
		} else {
			mine = append(mine, key)
		}
	}
	run(t, nil, append([]string{"list", "--single"}, port(servers[0])...)...).has(t, "one node", exitOK, "1 of 3 nodes scanned")
	run(t, nil, append([]string{"list"}, port(servers[0])...)...).has(t, "all nodes", exitOK, "3 of 3 nodes scanned")
	servers[1].Pause()
	target := append(port(servers[0]), "--timeout", "4s")
	r := run(t, nil, append([]string{"list", "--json"}, target...)...)
	var doc listDoc
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil || r.code != exitIncomplete {
		t.Fatalf("exit %d, %v\n%s%s", r.code, err, r.out, r.err)
	}
	if len(doc.Locks) != len(mine) || doc.Coverage.NodesScanned != 2 || doc.Coverage.Nodes != 3 || doc.Coverage.Complete || len(doc.Coverage.Errors) == 0 {
		t.Errorf("%d of %d locks, %+v", len(doc.Locks), len(mine), doc.Coverage)
	}
	run(t, nil, append([]string{"list"}, target...)...).has(t, "text", exitIncomplete, mine[0], servers[1].Addr+": no answer in time", "2 of 3 nodes scanned", "INCOMPLETE")
	run(t, nil, append([]string{"inspect", mine[0]}, target...)...).has(t, "a lock of another", exitOK, threadA)
	run(t, nil, append([]string{"inspect", theirs[0]}, target...)...).has(t, "its lock", exitError, "cannot be read", servers[1].Addr)
}

// What this user may not read is refused, which is neither "no such key" nor free.
func TestRefusedKeyIsNotGone(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.Do("acl", "setuser", "some", "on", ">pw", "~lock:*", "&*", "+@all")
	s.Do("set", "lock:a", watchA, "px", 600_000)
	s.Do("set", "other:lock", watchA, "px", 600_000)
	env := map[string]string{"REDISCLI_AUTH": "pw"}
	as := append(port(s), "--user", "some")
	run(t, env, append([]string{"list"}, as...)...).has(t, "list", exitIncomplete, "lock:a", "one key could not be read: other:lock: NOPERM")
	run(t, env, append([]string{"list", "--match", "lock:*"}, as...)...).has(t, "what may be read", exitOK, "lock:a")
	run(t, env, append([]string{"inspect", "other:lock"}, as...)...).has(t, "inspect", exitError, "cannot be read", "NOPERM")
	run(t, env, append([]string{"release", "other:lock", "--if-holder", watchA, "--reason", "x", "--yes", "--audit", "-"}, as...)...).
		has(t, "release", exitRefused, "REFUSED other:lock: nothing was changed: ", "cannot be read", "NOPERM")
}
