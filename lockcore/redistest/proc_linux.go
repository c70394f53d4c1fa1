package redistest

import "syscall"

// procAttr makes the kernel kill a server whose test binary died without
// running its cleanups: a panic, a go test -timeout, a kill.
func procAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
