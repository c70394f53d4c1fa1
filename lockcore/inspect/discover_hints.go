package inspect

import (
	"context"
	"slices"
	"strings"

	"fencepost/lockcore/inspect/family"
)

// registries are keys in which a library lists its locks by name: reading one
// shows them before a scan would come to them.
var registries = []struct {
	key    string
	kind   family.Type
	behind []string // what stands behind a member's name in the names of its keys
}{
	// sidekiq-unique-jobs: its members are digests, whose locks are :LOCKED.
	{"uniquejobs:digests", family.ZSet, []string{"", ":LOCKED", ":RUN:LOCKED"}},
}

// mostHints bounds how many names a hint may add.
const mostHints = 2000

// hints looks where locks show that a scan finds late or not at all: channels
// that somebody waits on, and registries. What the server refuses is left out.
func (n *nodeWalk) hints(ctx context.Context) error {
	found, err := n.fromChannels(ctx)
	if err != nil {
		return err
	}
	listed, err := n.fromRegistries(ctx)
	if err != nil {
		return err
	}
	if found = append(found, listed...); len(found) == 0 {
		return nil
	}
	return n.give(found)
}

// fromChannels finds locks by who waits for them: a Redisson semaphore is an
// ordinary number until somebody listens on its channel.
func (n *nodeWalk) fromChannels(ctx context.Context) ([]Lock, error) {
	globs := family.ChannelGlobs()
	verbs := []string{"channels"}
	if n.Cluster {
		verbs = append(verbs, "shardchannels")
	}
	b := newBatch(ctx, n.Client)
	for _, glob := range globs {
		for _, verb := range verbs {
			b.do("pubsub", verb, glob)
		}
	}
	if err := b.exec(); err != nil {
		return nil, err
	}
	var ms []family.Match
	for _, cmd := range b.cmds {
		channels, _ := cmd.Slice() // a server that refuses shows none
		for _, ch := range channels[:min(len(channels), mostHints)] {
			ms = append(ms, family.RecogniseChannel(text(ch))...)
		}
	}
	founds := slices.DeleteFunc(family.Group(ms), func(f family.Found) bool {
		return !n.w.wanted(f.Family.ID) || !matchAny(n.w.q.Match, f.Key) || n.w.known != nil && n.w.known(f.Key)
	})
	var out []Lock
	for chunk := range slices.Chunk(founds, scanBatch) {
		locks, err := n.fromFounds(ctx, chunk)
		if err != nil {
			return nil, err
		}
		out = append(out, locks...)
	}
	return out, nil
}

// fromFounds reads locks of which only the name is known.
func (n *nodeWalk) fromFounds(ctx context.Context, founds []family.Found) ([]Lock, error) {
	probes := make([]probe, len(founds))
	for i, f := range founds {
		probes[i] = probe{key: f.Key, idle: true}
	}
	samples, err := n.w.in.dateKeys(ctx, n.Node, probes)
	if err != nil {
		return nil, err
	}
	found, err := n.w.in.decode(ctx, n.Node, samples, founds)
	if err != nil {
		return nil, err
	}
	n.w.refused(found.unread)
	return slices.DeleteFunc(found.locks, func(l Lock) bool { return !n.w.take(&l) }), nil
}

// fromRegistries reads the first names of each registry.
func (n *nodeWalk) fromRegistries(ctx context.Context) ([]Lock, error) {
	b := newBatch(ctx, n.Client)
	for _, r := range registries {
		b.do("zrange", r.key, 0, mostHints-1)
	}
	if err := b.exec(); err != nil {
		return nil, err
	}
	var names []string
	for i, cmd := range b.cmds {
		members, _ := cmd.Slice() // not there, or another type: nothing
		for _, m := range members {
			for _, behind := range registries[i].behind {
				names = append(names, text(m)+behind)
			}
		}
	}
	return n.look(ctx, names)
}

// literals reports whether all patterns are plain names, so that those keys can
// be looked at without walking over all others.
func literals(match []string) ([]string, bool) {
	for _, m := range match {
		if strings.ContainsAny(m, `*?[\`) {
			return nil, false
		}
	}
	return match, len(match) > 0
}

// named looks at keys by their names.
func (n *nodeWalk) byName(ctx context.Context, keys []string) error {
	n.named = true
	n.scanned += int64(len(keys))
	n.w.cov.Scanned += int64(len(keys))
	found, err := n.look(ctx, keys)
	if err != nil {
		return err
	}
	return n.give(found)
}
