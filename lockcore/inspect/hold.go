package inspect

import "errors"

// ErrNoHold says that a lock cannot be held, and why.
var ErrNoHold = errors.New("inspect: this lock cannot be held")

// hold is what a plan needs to know of a hold, or of a TTL.
type hold struct {
	life int64 // milliseconds
}
