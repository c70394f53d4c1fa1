package target

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"

	"fencepost/lockcore/wire"
)

// explain puts a failed connection into words: what happened, and what to do.
// What the server said is freed of the secrets.
func explain(err error, secrets ...Secret) error {
	var done *ConnectError
	if errors.As(err, &done) {
		return done
	}
	var said serverError
	if errors.As(err, &said) {
		return refusal(scrub(string(said), secrets...))
	}
	var at *stageError
	if !errors.As(err, &at) {
		at = &stageError{stage: firstReply, err: err}
	}
	e := &ConnectError{Err: err}
	switch at.stage {
	case dialling:
		e.Text, e.Hint = explainDial(err)
	case handshake:
		e.Text, e.Hint = explainHandshake(err)
	case firstReply:
		e.Text, e.Hint = explainSilence(err, at.tls)
	}
	return e
}

func explainDial(err error) (text, hint string) {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no host of this name", ""
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused", "does Redis run there, on this port?"
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such socket", "does Redis run, with this unixsocket?"
	case errors.Is(err, fs.ErrPermission):
		return "this user may not open the socket", ""
	case timedOut(err):
		return "no connection in time", "wrong address, or a firewall between?"
	}
	return "no connection: " + innermost(err), ""
}

func explainHandshake(err error) (text, hint string) {
	var (
		unknown  x509.UnknownAuthorityError
		name     x509.HostnameError
		invalid  x509.CertificateInvalidError
		notTLS   tls.RecordHeaderError
		fromPeer *net.OpError
	)
	switch {
	case errors.As(err, &unknown):
		return "the server's certificate is signed by an authority that is not known here", "give it with --cacert FILE"
	case errors.As(err, &name):
		return "the server's certificate is for another name", "give the name it is for with --sni NAME"
	case errors.As(err, &invalid):
		return "the server's certificate is not valid: " + wire.Clean(invalid.Error()), ""
	case errors.As(err, &notTLS), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return "the server does not answer in TLS", "if the port is a plain one, leave out --tls, or write redis:// for rediss://"
	case timedOut(err):
		return "the server did not answer in TLS in time", "if the port is a plain one, leave out --tls, or write redis:// for rediss://"
	case errors.As(err, &fromPeer) && strings.Contains(err.Error(), "remote error"):
		return alert(err)
	}
	return "TLS failed: " + wire.Clean(innermost(err)), ""
}

// alert explains what the server said of our side of TLS.
func alert(err error) (text, hint string) {
	said := innermost(err)
	switch {
	case strings.Contains(said, "certificate required"), strings.Contains(said, "handshake failure"):
		return "the server wants a client certificate", "give it with --cert FILE and --key FILE"
	case strings.Contains(said, "unknown certificate authority"), strings.Contains(said, "bad certificate"):
		return "the server does not trust the client certificate", "is --cert signed by the authority that the server knows?"
	}
	return "the server broke off TLS: " + wire.Clean(said), ""
}

func explainSilence(err error, secure bool) (text, hint string) {
	var fromPeer *net.OpError
	switch {
	case errors.As(err, &fromPeer) && strings.Contains(err.Error(), "remote error"):
		return alert(err)
	case timedOut(err):
		return "the server took the connection and then said nothing in time", "is it overloaded, paused, or not Redis?"
	case errors.Is(err, errNotRedis) && !secure:
		return "what answers there does not speak as Redis does", "if the port is a TLS one, add --tls, or write rediss://"
	case errors.Is(err, errNotRedis):
		return "what answers there does not speak as Redis does", ""
	case !secure && hungUp(err):
		return "the server hung up without an answer", "if the port is a TLS one, add --tls, or write rediss://"
	case hungUp(err):
		return "the server hung up without an answer", "if it wants a client certificate: --cert FILE and --key FILE"
	}
	return "the connection failed: " + wire.Clean(innermost(err)), ""
}

func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func timedOut(err error) bool {
	var t net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || (errors.As(err, &t) && t.Timeout())
}

// innermost is the cause without the layers that repeat the address.
func innermost(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

// refusal explains an error that the server answered. Its text must be free of
// secrets.
func refusal(said string) *ConnectError {
	code, _, _ := strings.Cut(said, " ")
	switch {
	case code == "NOAUTH" || strings.HasPrefix(said, "ERR operation not permitted"):
		return &ConnectError{
			Auth: true, Text: "the server asks for a password",
			Hint: "--askpass asks for it; REDISCLI_AUTH, a profile or the URL can hold it; --user names the user",
		}
	case code == "DENIED" && strings.Contains(said, "protected mode"):
		return &ConnectError{
			Text: "the server is in protected mode: it has no password, and so takes connections from its own machine only",
			Hint: "connect from there, or set a password on the server",
		}
	case strings.HasPrefix(said, "ERR max number of clients"):
		return &ConnectError{Text: "the server has as many clients as it takes (maxclients)"}
	case strings.HasPrefix(said, "ERR DB index is out of range"):
		return &ConnectError{Text: "the server has no database of this number"}
	case strings.HasPrefix(said, "ERR SELECT is not allowed in cluster mode"):
		return &ConnectError{Text: "this is a Cluster, which has only database 0", Hint: "leave out -n"}
	case noPermission(said):
		return &ConnectError{Auth: true, Text: "the server does not let this user do that: " + wire.Clean(scrub(said))}
	case code == "LOADING":
		return &ConnectError{Text: "the server is still loading its data", Hint: "try again in a moment"}
	case code == "MASTERDOWN":
		return &ConnectError{Text: "this is a replica that has lost its master, and is set not to answer", Hint: "connect to the master"}
	}
	return &ConnectError{Text: "the server answers: " + wire.Clean(scrub(said))}
}

// noPermission reports whether a server's error denies a command to the user.
func noPermission(said string) bool { return strings.HasPrefix(said, "NOPERM") }
