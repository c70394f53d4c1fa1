package family

// dotnetFamilies are the lock libraries of the .NET world.
func dotnetFamilies() []*Family { return nil }
