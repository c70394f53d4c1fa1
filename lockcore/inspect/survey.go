package inspect

import (
	"context"
	"strings"
)

// survey is what a node says of itself before a scan.
type survey struct {
	keys     int64
	dbs      []int // that have keys
	dbsKnown bool
	quiet    bool // reading a key cannot change what the server evicts
}

// surveyNode asks how many keys there are, which databases have keys and
// whether reading could disturb an eviction policy. What is not permitted
// stays unknown, and unknown is never quiet.
func surveyNode(ctx context.Context, n Node) survey {
	var f survey
	f.keys, _ = n.Client.DBSize(ctx).Result()
	info, err := n.Client.Do(ctx, "info", "everything").Text()
	if err != nil {
		// A server that understands NO-TOUCH was told so when the connection was
		// made; asking again is harmless and tells whether it does.
		f.quiet = n.Client.Do(ctx, "client", "no-touch", "on").Err() == nil
		return f
	}
	fields := infoFields(info)
	f.quiet = fields["maxmemory"] == "0" || fields["maxmemory"] == "" ||
		!strings.Contains(fields["maxmemory_policy"], "lru") && !strings.Contains(fields["maxmemory_policy"], "lfu") &&
			!strings.Contains(fields["maxmemory_policy"], "lrm") ||
		n.Client.Do(ctx, "client", "no-touch", "on").Err() == nil
	f.dbsKnown = true
	for name := range fields {
		if db, ok := number(strings.TrimPrefix(name, "db")); ok && strings.HasPrefix(name, "db") {
			f.dbs = append(f.dbs, int(db))
		}
	}
	return f
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
