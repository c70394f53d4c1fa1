package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// Depth is how closely a scan looks at the keys.
type Depth string

// Deep looks at the type and shape of every key; ByName only at keys whose name
// promises a lock; Auto is deep for small databases where reading cannot disturb
// an eviction policy, else by name.
const (
	Auto   Depth = ""
	Deep   Depth = "deep"
	ByName Depth = "names"
)

// autoDeepLimit is the size up to which Auto looks at every key.
const autoDeepLimit = 50_000

// Query says what to look for.
type Query struct {
	Match    []string // globs as Redis understands them; none: every key
	Families []string // ids; none: all
	Possible bool     // also locks that are only possible
	Depth    Depth
	Count    int // SCAN's COUNT; 0: chosen by the scan
	// Rate bounds the keys looked at per second. 0: as fast as the server
	// answers. Negative: the polite default, which leaves the server as much
	// time as the scan takes from it.
	Rate int
}

// Coverage says what a scan has looked at, so that "none" can be believed.
type Coverage struct {
	Match          []string
	DBs            []int
	OtherDBs       []int // databases with keys that were not looked at
	OtherDBsKnown  bool  // false: the server would not say
	Depth          Depth // Deep or ByName
	Scanned        int64 // keys whose name was looked at
	Keyspace       int64 // keys there are, as the server counted at the start
	Nodes          int
	NodesScanned   int
	Complete       bool
	PossibleHidden int64
	Errors         []string // safe to print
}

// Progress is given to the caller of Scan after every page.
type Progress struct {
	Found    []Lock // new since the last one
	Coverage Coverage
}

// Scan walks the keys of every node with SCAN and calls each with the locks of
// every page as they are found; each returns false to stop. A node that fails
// is named in the coverage, which is then not complete. The error is ctx's.
func (in *Inspector) Scan(ctx context.Context, q Query, each func(Progress) bool) (Coverage, error) {
	s := &scan{in: in, q: q, each: each, seen: map[string]family.Confidence{}}
	s.cov = Coverage{Match: q.Match, Nodes: len(in.nodes), Depth: q.Depth}
	if len(q.Match) == 0 {
		s.cov.Match = []string{"*"}
	}
	s.prepare(ctx)
	complete := true
	for _, n := range in.nodes {
		err := s.node(ctx, n)
		switch {
		case errors.Is(err, errStopped):
			return s.cov, ctx.Err()
		case ctx.Err() != nil:
			return s.cov, ctx.Err()
		case err != nil:
			complete = false
			s.cov.Errors = append(s.cov.Errors, wire.Clean(fmt.Sprintf("%s: %v", n.Addr, err)))
		default:
			s.cov.NodesScanned++
		}
	}
	s.cov.Complete = complete
	s.each(Progress{Coverage: s.cov})
	return s.cov, nil
}

// errStopped says that the caller of Scan had enough.
var errStopped = errors.New("inspect: stopped")

// scan is one walk over all nodes.
type scan struct {
	in   *Inspector
	q    Query
	each func(Progress) bool
	cov  Coverage
	seen map[string]family.Confidence // row ids of locks already given
}

// prepare learns how large the keyspace is, and decides how deep to look.
func (s *scan) prepare(ctx context.Context) {
	quiet := true
	for _, n := range s.in.nodes {
		f := surveyNode(ctx, n)
		s.cov.Keyspace += f.keys
		quiet = quiet && f.quiet
		if !slices.Contains(s.cov.DBs, n.DB) {
			s.cov.DBs = append(s.cov.DBs, n.DB)
		}
		s.cov.OtherDBs = append(s.cov.OtherDBs, f.dbs...)
		s.cov.OtherDBsKnown = f.dbsKnown
	}
	s.cov.OtherDBs = slices.DeleteFunc(s.cov.OtherDBs, func(db int) bool { return slices.Contains(s.cov.DBs, db) })
	slices.Sort(s.cov.OtherDBs)
	s.cov.OtherDBs = slices.Compact(s.cov.OtherDBs)
	if s.q.Depth != Auto {
		return
	}
	s.cov.Depth = ByName
	if quiet && s.cov.Keyspace <= autoDeepLimit {
		s.cov.Depth = Deep
	}
}

// node walks one node to the end of its cursor.
func (s *scan) node(ctx context.Context, n Node) error {
	cursor, count := "0", s.q.Count
	if count <= 0 {
		count = scanCount
	}
	pattern := serverPattern(s.q.Match)
	for {
		args := []any{"scan", cursor, "count", count}
		if pattern != "" {
			args = append(args, "match", pattern)
		}
		sent := time.Now()
		reply, err := n.Client.Do(ctx, args...).Slice()
		if err != nil {
			return err
		}
		if len(reply) != 2 {
			return fmt.Errorf("SCAN answered %d parts, not a cursor and keys", len(reply))
		}
		took := time.Since(sent)
		keys, _ := reply[1].([]any)
		if pattern != "" {
			s.cov.Scanned += int64(count) // COUNT keys were walked, few came back
		} else {
			s.cov.Scanned += int64(len(keys))
		}
		if err := s.page(ctx, n, keys); err != nil {
			return err
		}
		if cursor = text(reply[0]); cursor == "0" { // empty pages are normal: only the cursor ends a scan
			if pattern != "" {
				s.cov.Scanned = max(s.cov.Scanned, s.cov.Keyspace)
			}
			return nil
		}
		if err := s.pace(ctx, took, len(keys)); err != nil {
			return err
		}
	}
}

// scanCount is SCAN's COUNT: one call then takes about a third of a millisecond
// of a server's time.
const scanCount = 500

// pace waits between two calls.
func (s *scan) pace(ctx context.Context, took time.Duration, keys int) error {
	wait := took
	switch {
	case s.q.Rate == 0:
		return ctx.Err()
	case s.q.Rate > 0:
		wait = time.Duration(keys)*time.Second/time.Duration(s.q.Rate) - took
	}
	if wait <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// page looks at the keys of one SCAN answer.
func (s *scan) page(ctx context.Context, n Node, keys []any) error {
	probes := make([]probe, 0, len(keys))
	for _, k := range keys {
		key := text(k)
		if isReceipt(key) || !matchAny(s.q.Match, key) {
			continue
		}
		if s.cov.Depth == Deep || family.NameCandidate(key) {
			probes = append(probes, probe{key: key})
		}
	}
	var found []Lock
	for chunk := range slices.Chunk(probes, refreshBatch) {
		locks, err := s.chunk(ctx, n, chunk)
		if err != nil {
			return err
		}
		found = append(found, locks...)
	}
	if !s.each(Progress{Found: found, Coverage: s.cov}) {
		return errStopped
	}
	return nil
}

// chunk takes a small look at keys, and a proper one at those that are locks.
func (s *scan) chunk(ctx context.Context, n Node, probes []probe) ([]Lock, error) {
	samples, _, err := sampleKeys(ctx, n.Client, scanBounds, probes)
	if err != nil {
		return nil, err
	}
	var again []probe
	for i, sm := range samples {
		if s.worthALook(n, sm) {
			p := probes[i]
			p.kind = sm.Type
			again = append(again, p)
		}
	}
	if len(again) == 0 {
		return nil, nil
	}
	locks, err := s.in.lookAt(ctx, n, again)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(locks, func(l Lock) bool { return !s.take(&l) }), nil
}

// worthALook reports whether a sample is a lock that the caller asked for.
func (s *scan) worthALook(n Node, sm *family.Sample) bool {
	worth := false
	for _, m := range family.Recognise(sm) {
		if len(s.q.Families) > 0 && !slices.Contains(s.q.Families, m.Family.ID) {
			continue
		}
		if m.Claim.Confidence == family.Possible && !s.q.Possible {
			if !m.Claim.Companion {
				s.cov.PossibleHidden++
			}
			continue
		}
		worth = true
	}
	return worth
}

// take reports whether a lock is new and wanted. SCAN may give a key twice, and
// a lock is met again at each of its companions.
func (s *scan) take(l *Lock) bool {
	if len(s.q.Families) > 0 && !slices.Contains(s.q.Families, l.Family) {
		return false
	}
	id := l.RowID()
	if had, ok := s.seen[id]; ok && had >= l.Confidence {
		return false
	}
	if l.Confidence < family.Likely && !s.q.Possible {
		s.cov.PossibleHidden++
		return false
	}
	s.seen[id] = l.Confidence
	return true
}
