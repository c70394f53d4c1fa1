package target

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// The modes of a Target.
const (
	Single   = "single"
	Cluster  = "cluster"
	Sentinel = "sentinel" // a master that Sentinels name
)

// The roles of a server; "" when it could not be learnt.
const (
	Master  = "master"
	Replica = "replica"
)

// ServerInfo is what is known of the server since it was connected to. Text
// from the server is safe to print.
type ServerInfo struct {
	Addr    string
	Mode    string
	Role    string
	Version string // as the server names itself: "7.0.15", "valkey 8.1.0"; "" unknown
	User    string // as ACL WHOAMI says; "" unknown
	Env     string // the environment's name; "" none
	Local   bool   // the other end of the connection is this machine
	// ReadOnly says that only reading commands are let through.
	ReadOnly bool
	Nodes    int // masters of the Cluster, 1 without; 0 unknown

	// TimeOffset is the server's clock minus ours, within TimeUncertainty;
	// HasTime says whether they could be compared.
	TimeOffset, TimeUncertainty time.Duration
	HasTime                     bool

	// Fields are those of INFO, unescaped; nil where it is not permitted.
	Fields map[string]string
	// Unknown says what could not be learnt, and why: sentences, each once.
	Unknown []string

	kind string // as the server names its mode
}

// The modes as servers name them.
const (
	kindCluster  = "cluster"
	kindSentinel = "sentinel"
)

// Guarded reports whether the server is to be handled as production: its
// environment says so, or it has none and is not on this machine.
func (in *ServerInfo) Guarded() bool { return IsProd(in.Env) || (in.Env == "" && !in.Local) }

// learn asks the server about itself. Only a broken connection or a user other
// than the one asked for is an error; what is not permitted becomes Unknown.
func (in *ServerInfo) learn(ctx context.Context, c *redis.Client, p *place) error {
	ask, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	pipe := c.Pipeline()
	hello := pipe.Do(ask, "HELLO") // without arguments it changes nothing
	info := pipe.Do(ask, "INFO")
	whoami := pipe.Do(ask, "ACL", "WHOAMI")
	_, _ = pipe.Exec(ask) // each command has its own error
	for _, cmd := range []*redis.Cmd{hello, info, whoami} {
		if err := cmd.Err(); err != nil && !answered(err) {
			return at(in.Addr, wrap(err))
		}
	}
	in.readHello(hello)
	in.readInfo(info)
	if in.kind == kindSentinel {
		return nil
	}
	if err := in.readUser(whoami, p.login.user); err != nil {
		return at(in.Addr, err)
	}
	if in.Role == "" {
		in.Unknown = append(in.Unknown, "role: n/a (no permission: INFO, HELLO)")
	}
	return at(in.Addr, wrap(in.compareClocks(ctx, c, p.timeout)))
}

// readHello takes what even a user without @dangerous may know.
func (in *ServerInfo) readHello(cmd *redis.Cmd) {
	facts := pairs(cmd.Val())
	in.setVersion(facts["server"], facts["version"])
	in.setRole(facts["role"])
	in.kind = facts["mode"]
}

// pairs reads a map reply, of RESP3 or RESP2.
func pairs(reply any) map[string]string {
	out := map[string]string{}
	switch r := reply.(type) {
	case map[any]any:
		for k, v := range r {
			out[fmt.Sprint(k)] = fmt.Sprint(v)
		}
	case []any:
		for i := 0; i+1 < len(r); i += 2 {
			out[fmt.Sprint(r[i])] = fmt.Sprint(r[i+1])
		}
	}
	return out
}

func (in *ServerInfo) readInfo(cmd *redis.Cmd) {
	if why := denied(cmd.Err(), "INFO"); why != "" {
		in.Unknown = append(in.Unknown, "memory, keyspace and replication: "+why)
		return
	}
	text, _ := cmd.Val().(string)
	in.Fields = infoFields(text)
	f := in.Fields
	if v := f["valkey_version"]; v != "" {
		in.setVersion("valkey", v)
	} else {
		in.setVersion(or2(f["server_name"], "redis"), f["redis_version"])
	}
	in.setRole(f["role"])
	if m := f["redis_mode"]; m != "" {
		in.kind = m
	} else if m := f["server_mode"]; m != "" {
		in.kind = m
	}
	if f["cluster_enabled"] == "1" {
		in.kind = kindCluster
	}
}

func infoFields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if ok && !strings.HasPrefix(name, "#") {
			fields[name] = value
		}
	}
	return fields
}

func (in *ServerInfo) setVersion(server, version string) {
	if version == "" {
		return
	}
	in.Version = wire.Clean(version)
	if server != "" && server != "redis" {
		in.Version = wire.Clean(server) + " " + in.Version
	}
}

func (in *ServerInfo) setRole(role string) {
	switch role {
	case "master", "primary":
		in.Role = Master
	case "slave", "replica":
		in.Role = Replica
	}
}

// readUser makes sure that the connection is the user's who was asked for.
func (in *ServerInfo) readUser(cmd *redis.Cmd, want string) error {
	if why := denied(cmd.Err(), "ACL WHOAMI"); why != "" {
		in.Unknown = append(in.Unknown, "user: "+why)
		return nil
	}
	user, ok := cmd.Val().(string)
	if !ok {
		return nil
	}
	if want != "" && user != want {
		return &ConnectError{
			Auth: true, Text: "the connection is one of the user " + wire.Escape(user) + ", not of the one that was asked for",
			Hint: "nothing was done as another user",
		}
	}
	in.User = wire.Escape(user)
	return nil
}

// clockSamples are taken for the offset; the fastest counts.
const clockSamples = 5

func (in *ServerInfo) compareClocks(ctx context.Context, c *redis.Client, timeout time.Duration) error {
	for range clockSamples {
		ask, cancel := context.WithTimeout(ctx, timeout)
		sent := time.Now()
		server, err := c.Time(ask).Result()
		trip := time.Since(sent)
		cancel()
		if why := denied(err, "TIME"); why != "" {
			in.Unknown = append(in.Unknown, "clock offset: "+why)
			return nil
		}
		if err != nil {
			return err
		}
		if !in.HasTime || trip/2 < in.TimeUncertainty {
			in.TimeOffset, in.TimeUncertainty = server.Sub(sent.Add(trip/2)), trip/2
			in.HasTime = true
		}
	}
	return nil
}

// learnSize counts the masters of a Cluster.
func (in *ServerInfo) learnSize(ctx context.Context, c *redis.Client, timeout time.Duration) {
	ask, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ranges, err := c.Do(ask, "CLUSTER", "SLOTS").Slice() // CLUSTER SHARDS is there since 7.0 only
	if err != nil {
		in.Nodes = 0
		in.Unknown = append(in.Unknown, "number of nodes: "+or2(denied(err, "CLUSTER SLOTS"), "n/a (no answer)"))
		return
	}
	var masters []string
	for _, r := range ranges { // from, to, the master, its replicas
		if parts, _ := r.([]any); len(parts) > 2 {
			masters = append(masters, fmt.Sprint(parts[2]))
		}
	}
	slices.Sort(masters)
	in.Nodes = len(slices.Compact(masters))
}

// OtherDBs lists the databases that hold keys, but for the one given; nil
// where the server does not say.
func (in *ServerInfo) OtherDBs(than int) []int {
	var dbs []int
	for name := range in.Fields {
		n, err := strconv.Atoi(strings.TrimPrefix(name, "db"))
		if strings.HasPrefix(name, "db") && err == nil && n != than {
			dbs = append(dbs, n)
		}
	}
	slices.Sort(dbs)
	return dbs
}

// denied says why a command gave nothing, as "n/a (no permission: INFO)"; ""
// when it did not fail, or not because the server refused.
func denied(err error, command string) string {
	switch {
	case err == nil || !answered(err):
		return ""
	case noPermission(err.Error()):
		return "n/a (no permission: " + command + ")"
	case strings.HasPrefix(err.Error(), "ERR unknown"):
		return "n/a (not on this server: " + command + ")"
	}
	return "n/a (" + command + " answers: " + wire.Clean(scrub(err.Error())) + ")"
}

// answered reports whether an error is the server's answer.
func answered(err error) bool {
	var said redis.Error
	return errors.As(err, &said)
}

// wrap makes any failure of a client a ConnectError.
func wrap(err error) error {
	var said redis.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said):
		return refusal(scrub(said.Error()))
	}
	return explain(err)
}

func or2(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
