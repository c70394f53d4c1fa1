// Package target turns what an operator names (flags, a URL, a profile) into a
// connected client, and says what it learnt about the server.
//
// Three rules run through it. Every step has a deadline. No secret appears in
// an error, a log or a printed value: secrets have their own type, URLs are
// parsed here rather than by a library that quotes its input, and whoever
// authenticates does so in one place that never repeats what the server said
// of the attempt. And what a server does not permit is said once, as unknown:
// it is never a reason not to connect.
package target
