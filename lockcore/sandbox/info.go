package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// section is one part of INFO's answer.
type section struct{ name, text string }

// info answers INFO: the sections that were asked for, all of them without a
// name.
func (s *shim) info(args []string) string {
	var b strings.Builder
	for _, sec := range s.sections() {
		if wanted(sec.name, args) {
			fmt.Fprintf(&b, "# %s\r\n%s\r\n", sec.name, sec.text)
		}
	}
	return b.String()
}

func wanted(name string, args []string) bool {
	return len(args) == 0 || slices.ContainsFunc(args, func(a string) bool {
		a = strings.ToLower(a)
		return a == strings.ToLower(name) || a == "all" || a == "everything" || a == "default"
	})
}

func (s *shim) sections() []section {
	s.mu.Lock()
	clients := len(s.clients)
	s.mu.Unlock()
	up := int(time.Since(s.started).Seconds())
	return []section{
		{"Server", fmt.Sprintf("redis_version:7.2.0\r\nserver_name:fencepost-sandbox\r\nredis_mode:standalone\r\n"+
			"tcp_port:0\r\nuptime_in_seconds:%d\r\n", up)},
		{"Clients", fmt.Sprintf("connected_clients:%d\r\nblocked_clients:0\r\nmaxclients:10000\r\n", clients)},
		{"Memory", "used_memory:1048576\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n"},
		{"Persistence", "loading:0\r\naof_enabled:0\r\n"},
		{"Stats", fmt.Sprintf("total_connections_received:%d\r\ntotal_commands_processed:%d\r\nexpired_keys:0\r\nevicted_keys:0\r\n",
			s.m.Server().TotalConnections(), s.m.Server().TotalCommands())},
		{"Replication", "role:master\r\nconnected_slaves:0\r\n"},
		{"Cluster", "cluster_enabled:0\r\n"},
		{"Keyspace", s.keyspace()},
	}
}

// databases is how many databases INFO tells of.
const databases = 16

// keyspace counts the keys of every database. Inside a script miniredis is
// locked, and then the section stays empty.
func (s *shim) keyspace() string {
	if !s.unlocked() {
		return ""
	}
	var b strings.Builder
	for i := range databases {
		db := s.m.DB(i)
		keys := db.Keys()
		if len(keys) == 0 {
			continue
		}
		expires := 0
		for _, k := range keys {
			if db.TTL(k) > 0 {
				expires++
			}
		}
		fmt.Fprintf(&b, "db%d:keys=%d,expires=%d,avg_ttl=0\r\n", i, len(keys), expires)
	}
	return b.String()
}

// unlocked waits a moment for miniredis to be free, and reports whether it was.
func (s *shim) unlocked() bool {
	for range 20 {
		if s.m.TryLock() {
			s.m.Unlock()
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}
