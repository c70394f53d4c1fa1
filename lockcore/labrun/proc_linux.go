package labrun

import "syscall"

// dieWithParent ends a server when the lab ends, however that happens.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
