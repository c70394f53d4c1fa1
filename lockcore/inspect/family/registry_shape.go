package family

// shapeFamilies are shapes that several libraries share, and locks written by
// hand.
func shapeFamilies() []*Family { return []*Family{homeGrown(), unknown()} }
