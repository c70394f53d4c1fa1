// Package libraries lets the lock libraries of other people take real locks on
// a real redis-server, and sees whether the fencepost program reads them
// rightly, releases them, and whether the holder and the waiters then end as
// the library's documentation says.
//
// It is a module of its own, so that none of these libraries becomes a
// dependency of fencepost. ../long.sh runs it. The libraries for Node are driven
// by the scripts of ../npm.
package libraries
