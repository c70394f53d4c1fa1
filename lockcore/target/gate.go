package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// ErrReadOnly says that a command was not sent, because the target was opened
// for reading only.
var ErrReadOnly error = readOnlyError{}

type readOnlyError struct{}

func (readOnlyError) Error() string {
	return "target: read-only: this command could change the server, so it was not sent"
}

// NotSent tells whoever must know whether a command may have run.
func (readOnlyError) NotSent() bool { return true }

// readers are the commands that a read-only target lets through. An entry of
// two words allows one subcommand. Whatever is not here is refused, so that a
// command that nobody thought of is refused too.
var readers = set(`
	HELLO AUTH SELECT PING ECHO QUIT ASKING READONLY READWRITE COMMAND
	CLIENT|SETNAME CLIENT|SETINFO CLIENT|GETNAME CLIENT|ID CLIENT|INFO CLIENT|LIST CLIENT|NO-TOUCH
	CLIENT|TRACKING CLIENT|TRACKINGINFO CLIENT|CACHING CLIENT|HELP
	SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE SUNSUBSCRIBE
	PUBSUB|CHANNELS PUBSUB|NUMSUB PUBSUB|NUMPAT PUBSUB|SHARDCHANNELS PUBSUB|SHARDNUMSUB
	MULTI EXEC DISCARD WATCH UNWATCH
	EVAL_RO EVALSHA_RO SCRIPT|EXISTS
	INFO TIME ROLE DBSIZE LASTSAVE CONFIG|GET MODULE|LIST
	ACL|WHOAMI ACL|GETUSER ACL|DRYRUN ACL|CAT SLOWLOG|GET SLOWLOG|LEN
	LATENCY|LATEST LATENCY|HISTORY LATENCY|HISTOGRAM LATENCY|DOCTOR
	MEMORY|USAGE MEMORY|STATS MEMORY|DOCTOR
	OBJECT|ENCODING OBJECT|IDLETIME OBJECT|FREQ OBJECT|REFCOUNT
	CLUSTER|INFO CLUSTER|NODES CLUSTER|SLOTS CLUSTER|SHARDS CLUSTER|MYID CLUSTER|KEYSLOT CLUSTER|COUNTKEYSINSLOT
	CLUSTER|GETKEYSINSLOT CLUSTER|LINKS CLUSTER|REPLICAS
	SENTINEL|GET-MASTER-ADDR-BY-NAME SENTINEL|MASTER SENTINEL|MASTERS SENTINEL|REPLICAS SENTINEL|SLAVES
	SENTINEL|SENTINELS SENTINEL|CKQUORUM
	SCAN EXISTS TYPE TTL PTTL EXPIRETIME PEXPIRETIME DUMP
	GET MGET GETRANGE STRLEN
	HGET HMGET HGETALL HLEN HEXISTS HKEYS HVALS HSTRLEN HRANDFIELD HSCAN HTTL HPTTL HEXPIRETIME HPEXPIRETIME
	ZRANGE ZRANGEBYSCORE ZREVRANGE ZSCORE ZMSCORE ZRANK ZCARD ZCOUNT ZSCAN
	SMEMBERS SCARD SISMEMBER SMISMEMBER SSCAN
	LLEN LRANGE LINDEX LPOS
	XLEN XRANGE XREVRANGE XINFO|STREAM XINFO|GROUPS XINFO|CONSUMERS XPENDING
`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// reads reports whether a command with this name and first argument may pass.
func reads(name, first string) bool {
	if strings.Contains(name, "|") {
		return false // no command has such a name
	}
	name = strings.ToUpper(name)
	return readers[name] || readers[name+"|"+strings.ToUpper(first)]
}

// gate refuses a command of a client before it is sent, so that the connection
// and the other commands of a pipeline that was allowed stay as they are.
type gate struct{}

// DialHook leaves dialling as it is; the connection has its own gate.
func (gate) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook refuses what is not a reading command.
func (gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !cmdReads(cmd) {
			cmd.SetErr(ErrReadOnly)
			return ErrReadOnly
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook refuses a pipeline with any other command in it.
func (gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			if !cmdReads(cmd) {
				for _, c := range cmds {
					c.SetErr(ErrReadOnly)
				}
				return ErrReadOnly
			}
		}
		return next(ctx, cmds)
	}
}

func cmdReads(cmd redis.Cmder) bool {
	args := cmd.Args()
	first := ""
	if len(args) > 1 {
		first = fmt.Sprint(args[1])
	}
	return reads(cmd.Name(), first)
}

// gateConn is the gate in the connection itself, for whatever does not pass
// the client's hooks: subscriptions, handshakes, the Sentinels. It forwards
// whole commands only.
type gateConn struct {
	net.Conn
	pending []byte
}

// gateSysConn keeps the client's look whether an idle connection is alive.
type gateSysConn struct {
	*gateConn
	syscall.Conn
}

func gated(conn net.Conn) net.Conn {
	g := &gateConn{Conn: conn}
	if sys, ok := conn.(syscall.Conn); ok {
		return gateSysConn{g, sys}
	}
	return g
}

// Write forwards the whole commands in what was written so far. With one that
// may not pass, nothing of them is sent.
func (g *gateConn) Write(p []byte) (int, error) {
	g.pending = append(g.pending, p...)
	whole := 0
	for {
		name, first, n, err := command(g.pending[whole:])
		if err != nil {
			return 0, err
		}
		if n == 0 {
			break
		}
		if !reads(name, first) {
			return 0, ErrReadOnly
		}
		whole += n
	}
	if whole > 0 {
		if _, err := g.Conn.Write(g.pending[:whole]); err != nil {
			return 0, err
		}
		g.pending = append(g.pending[:0], g.pending[whole:]...)
	}
	return len(p), nil
}

// errNoCommand says that a client wrote something that cannot be looked at.
var errNoCommand = errors.New("target: read-only: what was written is not a command, so it was not sent")

// command reads the first command in buf: its name, first argument and length;
// length 0 when it is not whole yet.
func command(buf []byte) (name, first string, n int, err error) {
	count, at, err := header(buf, '*')
	if err != nil || at == 0 {
		return "", "", 0, err
	}
	for i := range count {
		size, head, err := header(buf[at:], '$')
		if err != nil || head == 0 || len(buf) < at+head+size+2 {
			return "", "", 0, err
		}
		word := buf[at+head : at+head+size]
		switch i {
		case 0:
			name = string(word)
		case 1:
			first = string(word)
		}
		at += head + size + 2
	}
	return name, first, at, nil
}

// header reads "*3\r\n"; length 0 when it is not whole yet.
func header(buf []byte, kind byte) (value, length int, err error) {
	if len(buf) == 0 {
		return 0, 0, nil
	}
	end := bytes.IndexByte(buf, '\n')
	if buf[0] != kind || (end < 0 && len(buf) > 16) {
		return 0, 0, errNoCommand
	}
	if end < 0 {
		return 0, 0, nil
	}
	value, err = strconv.Atoi(string(bytes.TrimSuffix(buf[1:end], []byte("\r"))))
	if err != nil || value < 0 {
		return 0, 0, errNoCommand
	}
	return value, end + 1, nil
}
