package cli

import (
	"time"

	"fencepost/lockcore/target"
)

// group says what a flag is about; --help lists by group.
type group string

const (
	groupGeneral group = "general" // of every verb
	groupTarget  group = "target"  // of every verb that has a target
	groupLook    group = "look"    // which locks
	groupAct     group = "act"     // changing one
	groupOutput  group = "output"
)

// options is what flags can say. Each field belongs to one line of flags.
type options struct {
	help, version bool
	timeout       time.Duration
	config        string

	target  target.Options
	profile string

	match, family         []string
	possible, deep, names bool
	allDBs                bool
	scanCount, scanRate   int
	noExpiry              bool
	heldLongerThan        time.Duration

	ifHolder, ifHolderB64 []string
	allHolders            bool
	field                 *string
	keyB64                string
	reason                string
	yes, dryRun           bool
	max                   int
	audit                 string
	watchAfter            time.Duration
	listen                string

	json    bool
	explain bool
	lab     labOptions
}

// flag is one line of the table.
type flag struct {
	name  string
	short string
	value string // what --help calls its value; "" for a switch
	help  string
	wants string // what its value must be, for the error; "" for any text
	group group
	at    func(*options) any // where it is stored; the type says how it is read
}

// defaults are the options before any flag.
func defaults() options {
	return options{timeout: target.DefaultTimeout}
}

// flags is the table. A flag means the same for every verb that takes it.
func flags() []flag {
	var all []flag
	for _, part := range [][]flag{targetFlags(), lookFlags(), actFlags(), labFlags(), generalFlags()} {
		all = append(all, part...)
	}
	return all
}

func generalFlags() []flag {
	g := groupGeneral
	return []flag{
		{"explain", "", "", "say why each family does or does not claim the key", "", groupOutput, func(o *options) any { return &o.explain }},
		{"json", "", "", "print JSON instead of a table", "", groupOutput, func(o *options) any { return &o.json }},
		{"timeout", "", "DURATION", "time for each step (5s)", "a time, as 500ms or 10s", g, func(o *options) any { return &o.timeout }},
		{"config", "", "FILE", "the configuration file", "", g, func(o *options) any { return &o.config }},
		{"help", "", "", "show this (-h alone too)", "", g, func(o *options) any { return &o.help }},
		{"version", "", "", "show the version", "", g, func(o *options) any { return &o.version }},
	}
}

// targetFlags are named as redis-cli names them.
func targetFlags() []flag {
	const number, port = "a number from 0 on", "a number from 1 to 65535"
	g := groupTarget
	return []flag{
		{"host", "h", "HOST", "server (127.0.0.1)", "", g, func(o *options) any { return &o.target.Host }},
		{"port", "p", "PORT", "its port (6379)", port, g, func(o *options) any { return (*portNumber)(&o.target.Port) }},
		{"socket", "s", "PATH", "Unix socket, instead of host and port", "", g, func(o *options) any { return &o.target.Socket }},
		{"db", "n", "N", "database (0)", number, g, func(o *options) any { return &o.target.DB }},
		{"url", "u", "URL", "redis://USER:PASSWORD@HOST:PORT/DB; rediss:// for TLS, unix:// for a socket", "", g, func(o *options) any { return &o.target.URL }},
		{"profile", "", "NAME", "a target from the configuration file", "", g, func(o *options) any { return &o.profile }},
		{"user", "", "NAME", "user; asks for a password that nothing else gives", "", g, func(o *options) any { return &o.target.User }},
		{"askpass", "", "", "ask for the password", "", g, func(o *options) any { return &o.target.AskPass }},
		{"pass", "a", "PASSWORD", "password (others on this machine can see it; better: REDISCLI_AUTH)", "", g, func(o *options) any { return &o.target.Password }},
		{"tls", "", "", "use TLS", "", g, func(o *options) any { return &o.target.TLS }},
		{"sni", "", "NAME", "TLS: the server's name, when it is not the host", "", g, func(o *options) any { return &o.target.SNI }},
		{"cacert", "", "FILE", "TLS: who signs the server's certificate", "", g, func(o *options) any { return &o.target.CACert }},
		{"cert", "", "FILE", "TLS: client certificate", "", g, func(o *options) any { return &o.target.Cert }},
		{"key", "", "FILE", "TLS: private key of the client certificate (not a lock's key)", "", g, func(o *options) any { return &o.target.Key }},
		{"insecure", "", "", "TLS: take any certificate", "", g, func(o *options) any { return &o.target.Insecure }},
		{"addr", "", "HOST:PORT", "a seed of a Cluster, or a Sentinel; repeatable", "", g, func(o *options) any { return &o.target.Addrs }},
		{"cluster", "c", "", "insist on a Cluster (one is detected anyway)", "", g, func(o *options) any { return &o.target.Cluster }},
		{"single", "", "", "stay on one node of a Cluster", "", g, func(o *options) any { return &o.target.Single }},
		{"sentinel-master", "", "NAME", "the master that the Sentinels know by this name", "", g, func(o *options) any { return &o.target.SentinelMaster }},
		{"sentinel-user", "", "NAME", "user at the Sentinels; the password is FENCEPOST_SENTINEL_AUTH", "", g, func(o *options) any { return &o.target.SentinelUser }},
		{"env", "", "NAME", "the environment's name; prod is guarded", "", g, func(o *options) any { return &o.target.Env }},
		{"read-only", "", "", "let only reading commands through", "", g, func(o *options) any { return &o.target.ReadOnly }},
	}
}

func lookFlags() []flag {
	g := groupLook
	return []flag{
		{"match", "", "GLOB", "only keys of this pattern; repeatable", "", g, func(o *options) any { return &o.match }},
		{"family", "", "NAME", "only locks of this family; repeatable", "", g, func(o *options) any { return &o.family }},
		{"possible", "", "", "also what is only possibly a lock", "", g, func(o *options) any { return &o.possible }},
		{"deep", "", "", "look at every key's shape", "", g, func(o *options) any { return &o.deep }},
		{"names", "", "", "look only at keys whose name suggests a lock", "", g, func(o *options) any { return &o.names }},
		{"all-dbs", "", "", "look at every database that has keys", "", g, func(o *options) any { return &o.allDBs }},
		{"scan-count", "", "N", "keys that one SCAN asks for", "a number from 1 on", g, func(o *options) any { return (*positive)(&o.scanCount) }},
		{"scan-rate", "", "KEYS/S", "keys looked at in a second (0: as fast as the server answers)", "a number from 0 on", g, func(o *options) any { return (*natural)(&o.scanRate) }},
		{"no-expiry", "", "", "only locks that never expire", "", g, func(o *options) any { return &o.noExpiry }},
		{"held-longer-than", "", "DURATION", "only locks held for longer", "a time, as 90s or 2h", g, func(o *options) any { return &o.heldLongerThan }},
	}
}

func actFlags() []flag {
	g := groupAct
	return []flag{
		{"if-holder", "", "ID", "who must still hold it, as list shows the id; repeatable", "", g, func(o *options) any { return &o.ifHolder }},
		{"if-holder-b64", "", "BASE64", "the same, in base64; repeatable", "", g, func(o *options) any { return &o.ifHolderB64 }},
		{"all-holders", "", "", "the holders given must be all there are", "", g, func(o *options) any { return &o.allHolders }},
		{"field", "", "NAME", "the hash field, where the lock is one", "", g, func(o *options) any { return &o.field }},
		{"key-b64", "", "BASE64", "the key, in base64, instead of KEY", "", g, func(o *options) any { return &o.keyB64 }},
		{"reason", "", "TEXT", "why, for the audit", "", g, func(o *options) any { return &o.reason }},
		{"yes", "", "", "do not ask", "", g, func(o *options) any { return &o.yes }},
		{"dry-run", "", "", "print the commands and do nothing", "", g, func(o *options) any { return &o.dryRun }},
		{"max", "", "N", "no more than so many locks (audit: only the last so many acts)", "a number from 1 on", g, func(o *options) any { return (*positive)(&o.max) }},
		{"watch-after", "", "DURATION", "how long to watch who takes it next (2s on a terminal)", "a time, as 500ms or 10s", g, func(o *options) any { return &o.watchAfter }},
		{"audit", "", "FILE", "where what was changed is written down (- is standard error)", "", g, func(o *options) any { return &o.audit }},
		{"listen", "", "HOST:PORT", "where the sandbox listens (127.0.0.1:6399)", "", g, func(o *options) any { return &o.listen }},
	}
}
