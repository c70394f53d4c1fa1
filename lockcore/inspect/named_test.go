package inspect_test

import (
	"strings"
	"testing"
	"time"

	"fencepost/lockcore/inspect"
	"fencepost/lockcore/redistest"
)

// Permits of a library that gives its holders no ids are told apart by what they
// are called: one can be taken back without the other, and never an arbitrary one.
func TestPermitWithoutAnIDIsNamedByItsLabel(t *testing.T) {
	s := redistest.Start(t)
	in := at(t, s.Addr)
	key, now := "SEMAPHORE:jobs:GRABBED", time.Now().Unix()
	s.Do("hset", key, "0", now, "1", now)
	s.Do("set", "SEMAPHORE:jobs:EXISTS", "2")
	l := one(t, in, key)
	if len(l.Holders) != 2 || l.Holders[0].ID != "" || !strings.HasPrefix(l.HolderWords(), "permit ") {
		t.Fatalf("%+v: %s", l.Holders, l.HolderWords())
	}
	if _, err := in.PlanRelease(l, ""); err == nil || !strings.Contains(err.Error(), "none of them has an id") {
		t.Errorf("an arbitrary one is chosen: %v", err)
	}
	if _, err := in.PlanRelease(l, "permit 7"); err == nil {
		t.Error("one that is not there is chosen")
	}
	p, err := in.PlanRelease(l, "permit 1")
	if err != nil || len(p.Holders) != 1 || p.Holders[0].Label != "permit 1" {
		t.Fatalf("%+v, %v", p.Holders, err)
	}
	o := carryOut(t, in, p)
	expectOutcome(t, o, p, inspect.Released)
	if !strings.Contains(o.Detail(&p), "permit 1") {
		t.Error(o.Detail(&p))
	}
	if s.Do("hexists", key, "1") != int64(0) || s.Do("hexists", key, "0") != int64(1) || s.Do("llen", "SEMAPHORE:jobs:AVAILABLE") != int64(1) {
		t.Errorf("what is left: %q", s.Dump())
	}
	both, err := in.PlanRelease(one(t, in, key), "permit 0", "permit 0")
	if err != nil || len(both.Holders) != 1 {
		t.Errorf("%+v, %v", both.Holders, err)
	}
}
