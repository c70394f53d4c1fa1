package inspect

import (
	"context"
	"slices"
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
	Count    int // SCAN's COUNT; 0: chosen by the scan, so that no call takes long
	// Rate bounds the keys looked at per second. 0: as fast as the server
	// answers. Negative: the polite default, which leaves the server more time
	// than the scan takes from it.
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
	Refused        int64    // keys that could not be read: nobody knows whether they are locks
	Errors         []string // of nodes and of keys; safe to print
}

// Progress is given to the caller of a scan after every page.
type Progress struct {
	Found    []Lock // new since the last one
	Coverage Coverage
	end      bool // the last of a run: nothing was answered just now
}

// Scan walks the keys of every node with SCAN and calls each with the locks of
// every page as they are found; each returns false to stop. A node that fails
// is named in the coverage, which is then not complete. The error is ctx's.
func (in *Inspector) Scan(ctx context.Context, q Query, each func(Progress) bool) (Coverage, error) {
	w := in.NewWalk(q)
	err := w.Run(ctx, each)
	return w.Coverage(), err
}

// clone copies a coverage, so that it does not change under its reader.
func (c Coverage) clone() Coverage {
	c.DBs, c.OtherDBs, c.Errors = slices.Clone(c.DBs), slices.Clone(c.OtherDBs), slices.Clone(c.Errors)
	return c
}
