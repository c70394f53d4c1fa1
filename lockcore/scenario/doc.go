// Package scenario plays stories about locks that go wrong: a holder that is
// paused past its lease, an unlock that frees somebody else's lock, a counter
// that was thrown out of memory. Each story is a file of data in data/.
//
// A story is played in worlds that differ in one switch, over a Port: real lock
// commands, single-threaded, at scheduled times. Actors hold what they believe
// as data (token, number, deadline). After every step the rules are looked at,
// and Run holds what was sent, what came back, what each actor thinks, what
// Redis says, and which rules were broken.
//
// Nothing here opens a connection or reads a clock; the same story, world and
// seed give the same Run.
package scenario
