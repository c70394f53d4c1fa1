package inspect

// hold is what a plan needs to know of a hold, or of a TTL.
type hold struct {
	life int64 // milliseconds
}
