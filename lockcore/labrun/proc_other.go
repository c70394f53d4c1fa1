//go:build !linux

package labrun

import "syscall"

// dieWithParent does nothing here: Close ends the servers.
func dieWithParent() *syscall.SysProcAttr { return nil }
