// Package redistest starts real Redis servers for tests, and stands between
// them and a client where a test needs a fault. Only tests import it.
package redistest
