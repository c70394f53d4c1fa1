package inspect

import (
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/wire"
)

// Reason says in plain words what is wrong with a connection, and what to look
// at; false where the error is none of that. It is safe to print.
func Reason(err error) (words string, ok bool) {
	words = connectionWords(err)
	return words, words != ""
}

// reasonOf is Reason, and for an error of another kind its cause.
func reasonOf(err error) string {
	if words, ok := Reason(err); ok {
		return words
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next // the layers around it repeat the address
	}
	return wire.Clean(err.Error())
}

func connectionWords(err error) string {
	var dns *net.DNSError
	switch {
	case err == nil:
		return ""
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused: does Redis run there?"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no host of this name"
	case errors.Is(err, syscall.ENOENT):
		return "there is no such socket: does Redis run?"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no way to this host: is the network up?"
	case redis.HasErrorPrefix(err, "LOADING"):
		return "it is still loading its data"
	case redis.HasErrorPrefix(err, "MASTERDOWN"):
		return "it is a replica that has lost its master"
	case redis.HasErrorPrefix(err, "BUSY"), redis.HasErrorPrefix(err, "UNKILLABLE"):
		return "it is busy running a script, and answers nobody"
	case redis.HasErrorPrefix(err, "CLUSTERDOWN"):
		return "it answers no reads: the Cluster is down, some of its slots have no master"
	case redis.HasErrorPrefix(err, "NOAUTH"), redis.HasErrorPrefix(err, "WRONGPASS"):
		return "it does not accept the login any more"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, net.ErrClosed):
		return "the connection was cut"
	case timedOut(err):
		return "no answer in time"
	}
	return ""
}
