package inspect

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// survey is what a node says of itself before a scan.
type survey struct {
	keys     int64
	dbs      []int // that have keys
	dbsKnown bool
	quiet    bool          // reading a key cannot change what the server evicts
	rtt      time.Duration // of the fastest of a few PINGs
	ops      int64         // commands that it answers a second, of late; -1: not known
	failed   error         // it does not answer; nothing else is known then
	serverFacts
}

// serverFacts are what INFO says about how far a server's answers can be trusted.
type serverFacts struct {
	known    bool   // INFO is permitted
	runID    string // changes when the server is started again
	replica  bool
	linkDown bool  // a replica that has lost its master
	evicts   bool  // keys may be evicted
	evicted  int64 // keys evicted so far
	flushes  int64 // FLUSHDB and FLUSHALL so far, of any database; -1 not known
}

// pings is how often the round trip is measured before a scan, unless that takes
// too long: over a slow way one is as good as three.
const (
	pings   = 3
	pingFor = 100 * time.Millisecond
)

// surveyNode asks how many keys there are, which databases have keys and
// whether reading could disturb an eviction policy. What is not permitted
// stays unknown, and unknown is never quiet.
func surveyNode(ctx context.Context, n Node) survey {
	f := survey{ops: -1}
	if f.rtt, f.failed = roundTrip(ctx, n); f.failed != nil {
		f.serverFacts = factsOf(nil, false)
		return f
	}
	b := newBatch(ctx, n.Client)
	size, said, counts := b.do("dbsize"), b.do("info"), b.do("info", "commandstats")
	// A server that understands NO-TOUCH was told so when the connection was
	// made; asking again is harmless and tells whether it does.
	untouched := b.do("client", "no-touch", "on")
	failed := b.exec() != nil
	f.keys, _ = size.Int64() // not permitted: not known
	ok := !failed && said.Err() == nil
	fields := infoFields(text(said.Val()) + text(counts.Val()))
	f.serverFacts = factsOf(fields, ok)
	f.quiet = ok && !touchMatters(fields) || !failed && untouched.Err() == nil
	f.dbsKnown = ok
	if ops, said := number(fields["instantaneous_ops_per_sec"]); said {
		f.ops = ops
	}
	for name := range fields {
		if db, isNumber := number(strings.TrimPrefix(name, "db")); isNumber && strings.HasPrefix(name, "db") {
			f.dbs = append(f.dbs, int(db))
		}
	}
	slices.Sort(f.dbs)
	return f
}

// roundTrip measures the way there and back, or says why nothing answers. That
// PING is not permitted is an answer too.
func roundTrip(ctx context.Context, n Node) (best time.Duration, err error) {
	first := time.Now()
	for range pings {
		began := time.Now()
		if err := n.Client.Ping(ctx).Err(); err != nil && (!serverError(err) || unable(err)) {
			return best, err
		}
		if took := time.Since(began); best == 0 || took < best {
			best = took
		}
		if time.Since(first) > pingFor {
			break
		}
	}
	return best, nil
}

// touchMatters reports whether the time of a key's last reading decides about
// its eviction.
func touchMatters(fields map[string]string) bool {
	policy := fields["maxmemory_policy"]
	return mayEvict(fields) && (strings.Contains(policy, "lru") || strings.Contains(policy, "lfu") || strings.Contains(policy, "lrm"))
}

// mayEvict reports whether the server may remove keys to free memory; where it
// does not say, it may.
func mayEvict(fields map[string]string) bool {
	limit, said := fields["maxmemory"]
	return !said || limit != "0" && fields["maxmemory_policy"] != "noeviction"
}

func factsOf(fields map[string]string, ok bool) serverFacts {
	if !ok {
		return serverFacts{evicts: true, flushes: -1}
	}
	f := serverFacts{
		known: true, runID: fields["run_id"], replica: fields["role"] == "slave",
		evicts: mayEvict(fields), flushes: flushesIn(fields),
	}
	f.linkDown = f.replica && fields["master_link_status"] == "down"
	f.evicted, _ = strconv.ParseInt(fields["evicted_keys"], 10, 64) // a server that does not count has 0
	return f
}

// flushesIn counts the commands that empty a database. A command that was never
// used is not listed.
func flushesIn(fields map[string]string) int64 {
	total := int64(0)
	for _, name := range [...]string{"cmdstat_flushdb", "cmdstat_flushall"} {
		calls, _, _ := strings.Cut(strings.TrimPrefix(fields[name], "calls="), ",")
		n, _ := strconv.ParseInt(calls, 10, 64) // not listed: 0
		total += n
	}
	return total
}

// info asks for INFO's default sections and the counts of commands; false where
// it is not permitted.
func info(ctx context.Context, n Node) (map[string]string, bool) {
	b := newBatch(ctx, n.Client)
	said, counts := b.do("info"), b.do("info", "commandstats")
	if b.exec() != nil || said.Err() != nil {
		return nil, false
	}
	return infoFields(text(said.Val()) + text(counts.Val())), true
}

// infoFields reads INFO's lines.
func infoFields(info string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[k] = v
		}
	}
	return fields
}
