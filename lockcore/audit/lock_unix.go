//go:build unix

package audit

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// lockPatience is how long another writer is waited for.
const lockPatience = 2 * time.Second

var errLocked = errors.New("another program holds the audit file")

// lock keeps other writers out until unlock.
func lock(f *os.File) (unlock func(), err error) {
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(5 * time.Millisecond) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }, nil // closing the file does it too
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return nil, err
		case time.Now().After(deadline):
			return nil, errLocked
		}
	}
}
