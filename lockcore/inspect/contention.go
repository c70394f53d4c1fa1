package inspect

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"fencepost/lockcore/inspect/family"
	"fencepost/lockcore/wire"
)

// Sign is one sign of others who want a lock, and how it is known.
type Sign struct {
	Says     string // in words, safe to print
	How      string // "queue", "pubsub", "CLIENT LIST", "idle time"
	Count    int64  // -1 where only their existence shows
	Inferred bool
}

// Examination is what a closer look at one lock has shown.
type Examination struct {
	At         time.Time
	Evidence   []Evidence
	Contention []Sign
	Unknown    []string // what could not be learned, and why; safe to print
}

// mostClients is up to how many connections are looked through: a server is busy
// for a millisecond and a half for each thousand, and answers nobody meanwhile.
const mostClients = 3000

// Examine takes a closer look at one lock and its holder: how long nobody has
// touched the key, whether a connection of the holder is open, who else wants
// it. It reads no value, so it does not disturb what it looks at. It is for one
// lock before somebody's eyes, every ten seconds at most. The error is one of
// the connection.
func (in *Inspector) Examine(ctx context.Context, w *Watched) (Examination, error) {
	i := slices.IndexFunc(in.nodes, func(n Node) bool { return n.Addr == w.Node && n.DB == w.DB })
	x := Examination{At: time.Now()}
	if i < 0 {
		return x, fmt.Errorf("inspect: no node %s is looked at", wire.Clean(w.Node))
	}
	n := in.nodes[i]
	x.Evidence = w.Evidence(x.At)
	if w.Waiters != nil && w.Waiters.Count != 0 {
		x.Contention = append(x.Contention, Sign{Says: waitersWords(w.Waiters), How: w.Waiters.How, Count: w.Waiters.Count})
	}
	b := newBatch(ctx, n.Client)
	idle, clients := b.do("object", "idletime", string(w.Key)), b.do("info", "clients")
	if err := b.exec(); err != nil {
		return x, err
	}
	if seconds, err := idle.Int64(); err == nil {
		x.idle(w, time.Duration(seconds)*time.Second)
	} else {
		x.Unknown = append(x.Unknown, "for how long nobody has touched it: the server does not say")
	}
	fields := infoFields(text(clients.Val()))
	count, err := strconv.Atoi(fields["connected_clients"])
	switch {
	case clients.Err() == nil && err == nil && count > mostClients:
		x.Unknown = append(x.Unknown, fmt.Sprintf("whether the holder is connected: %d connections are too many to look through", count))
		return x, nil
	case fields["blocked_clients"] == "0" && !traceable(w.Holders):
		return x, nil
	}
	return x, x.connections(ctx, n, w)
}

// touched is when the key was last read by us, or renewed; nobody else is needed
// to explain an idle time that began then.
func touched(w *Watched) time.Time {
	at := w.SampledAt
	if w.Beat != nil && w.Beat.Last.After(at) {
		at = w.Beat.Last
	}
	return at
}

// idle judges for how long nobody has touched the key. A failed SET NX, a GET or
// an HGETALL touches it, PTTL and the question itself do not. The server counts
// whole seconds.
func (x *Examination) idle(w *Watched, idle time.Duration) {
	last := x.At.Add(-idle)
	switch ours := touched(w); {
	case last.After(ours.Add(1500 * time.Millisecond)):
		x.Contention = append(x.Contention, Sign{
			Says: "somebody tries or reads it: it was touched within the last " + SpanOf(idle+time.Second) + ", and not by a renewal nor from here",
			How:  "idle time", Count: -1, Inferred: true,
		})
	case idle >= 5*time.Second && last.Before(ours.Add(-1500*time.Millisecond)):
		x.Evidence = append(x.Evidence, Evidence{
			Says: "nobody has read or written it for " + SpanOf(idle), How: "idle time",
		})
	}
}

// traceable reports whether a holder's id says where it runs.
func traceable(holders []family.Holder) bool {
	for _, h := range holders {
		if h.Host != "" || h.PID != 0 {
			return true
		}
	}
	return false
}

// connections looks through CLIENT LIST for the holder, and for who is blocked.
func (x *Examination) connections(ctx context.Context, n Node, w *Watched) error {
	list, err := n.Client.Do(ctx, "client", "list").Text()
	switch {
	case serverError(err):
		x.Unknown = append(x.Unknown, "who is connected: not permitted (CLIENT LIST)")
		return nil
	case err != nil:
		return err
	}
	all := clientLines(list)
	blocked := 0
	for _, c := range all {
		if strings.Contains(c["flags"], "b") {
			blocked++
		}
	}
	if blocked > 0 {
		x.Contention = append(x.Contention, Sign{
			Says: fmt.Sprintf("%d connections of this server wait in a blocking command; for which key it does not say", blocked),
			How:  "CLIENT LIST", Count: int64(blocked), Inferred: true,
		})
	}
	for _, h := range w.Holders {
		if h.Host != "" || h.PID != 0 {
			x.Evidence = append(x.Evidence, connected(h, all))
		}
	}
	return nil
}

// clientLines reads CLIENT LIST: a line of words name=value for each connection.
func clientLines(list string) []map[string]string {
	var out []map[string]string
	for line := range strings.Lines(list) {
		c := map[string]string{}
		for word := range strings.FieldsSeq(line) {
			if k, v, ok := strings.Cut(word, "="); ok {
				c[k] = v
			}
		}
		out = append(out, c)
	}
	return out
}

// connected is whether a connection seems to be this holder's. The server knows
// of no tie between a lock and a connection: a name or an address is all there
// is, and proxies and pools blur both.
func connected(h family.Holder, clients []map[string]string) Evidence {
	where := wire.Clean(h.Host)
	if h.PID != 0 {
		where = strings.TrimSpace(where + " process " + strconv.FormatInt(h.PID, 10))
	}
	var best map[string]string
	for _, c := range clients {
		if ownerOf(c, h) && (best == nil || idleOf(c) < idleOf(best)) {
			best = c
		}
	}
	if best == nil {
		return Evidence{
			Says: fmt.Sprintf("no connection names %s, of %d that are open (proxies, pools and address translation hide some)", where, len(clients)),
			How:  "CLIENT LIST", For: Dead, Inferred: true,
		}
	}
	name := ""
	if best["name"] != "" {
		name = " named " + wire.Clean(best["name"])
	}
	return Evidence{
		Says: fmt.Sprintf("a connection from %s%s is open, idle for %s", wire.Clean(best["addr"]), name, SpanOf(idleOf(best))),
		How:  "CLIENT LIST", For: Alive, Inferred: true,
	}
}

// ownerOf reports whether a connection's name or address fits a holder.
func ownerOf(c map[string]string, h family.Holder) bool {
	name := strings.ToLower(c["name"])
	host := strings.ToLower(h.Host)
	if host != "" && strings.Contains(name, host) {
		return h.PID == 0 || strings.Contains(name, strconv.FormatInt(h.PID, 10)) || !strings.ContainsAny(name, "0123456789")
	}
	addr, _, err := net.SplitHostPort(c["addr"])
	return err == nil && host != "" && addr == host
}

func idleOf(c map[string]string) time.Duration {
	n, _ := strconv.Atoi(c["idle"]) // a server that does not say: 0
	return time.Duration(n) * time.Second
}
