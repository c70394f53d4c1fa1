package target

import "time"

// DefaultTimeout bounds each step where Options.Timeout is 0.
const DefaultTimeout = 5 * time.Second

// Options says which server is meant and how to reach it: one field for each
// flag, and what a profile and the environment add. The zero value of a field
// means that it was not given.
type Options struct {
	Host   string
	Port   int
	Socket string // of a server on this machine, instead of host and port
	DB     *int
	URL    Secret // redis, rediss, valkey, valkeys or unix; single fields override it

	User     string
	AskPass  bool    // ask for the password on the terminal
	Password *Secret // may be empty: then an empty one is sent

	Cluster bool     // it must be a Cluster
	Single  bool     // stay on one node of a Cluster
	Addrs   []string // HOST:PORT: further seeds of a Cluster, or the Sentinels

	SentinelMaster   string // the master's name; makes the addresses Sentinels
	SentinelUser     string
	SentinelPassword Secret // FENCEPOST_SENTINEL_AUTH

	TLS      bool
	SNI      string // also the name that the certificate must be for
	CACert   string // files
	Cert     string
	Key      string
	Insecure bool // take any certificate

	Env      string // the environment's name, as prod
	ReadOnly bool

	PasswordCommand string  // of a profile: run for each connection
	PasswordFile    string  // of a profile: read for each connection
	EnvPassword     *Secret // REDISCLI_AUTH

	Timeout time.Duration // for each step; 0 is DefaultTimeout

	// Ask asks for a password on the terminal. Nil: there is none.
	Ask func(prompt string) (Secret, error)
}

// Under returns the options with what they do not say filled in from a
// profile. The profile's environment and its read-only mode can only be made
// stricter: prod stays prod.
func (o Options) Under(profile Options) Options {
	p := profile
	if o.URL != "" || o.Socket != "" { // another server altogether
		p.Host, p.Port, p.Socket, p.Addrs, p.SentinelMaster = "", 0, "", nil, ""
	}
	if o.Host != "" || o.Port != 0 {
		p.Socket = ""
	}
	or(&o.Host, p.Host)
	or(&o.Port, p.Port)
	or(&o.Socket, p.Socket)
	or(&o.DB, p.DB)
	or(&o.URL, p.URL)
	or(&o.User, p.User)
	or(&o.Password, p.Password)
	or(&o.SentinelMaster, p.SentinelMaster)
	or(&o.SentinelUser, p.SentinelUser)
	or(&o.SentinelPassword, p.SentinelPassword)
	or(&o.SNI, p.SNI)
	or(&o.CACert, p.CACert)
	or(&o.Cert, p.Cert)
	or(&o.Key, p.Key)
	or(&o.PasswordCommand, p.PasswordCommand)
	or(&o.PasswordFile, p.PasswordFile)
	if len(o.Addrs) == 0 {
		o.Addrs = p.Addrs
	}
	o.Cluster = o.Cluster || p.Cluster
	o.Single = o.Single || p.Single
	o.TLS = o.TLS || p.TLS
	o.Insecure = o.Insecure || p.Insecure
	o.ReadOnly = o.ReadOnly || p.ReadOnly
	if p.Env != "" && !IsProd(o.Env) {
		o.Env = p.Env
	}
	return o
}

func or[T comparable](field *T, other T) {
	var none T
	if *field == none {
		*field = other
	}
}

// IsProd reports whether an environment's name means production.
func IsProd(env string) bool {
	switch lower(env) {
	case "prod", "production", "prd", "live":
		return true
	}
	return false
}

func (o *Options) timeout() time.Duration {
	if o.Timeout > 0 {
		return o.Timeout
	}
	return DefaultTimeout
}
