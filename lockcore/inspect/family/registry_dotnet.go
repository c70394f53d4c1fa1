package family

// dotnetFamilies are the lock libraries of the .NET world.
func dotnetFamilies() []*Family {
	return []*Family{madelson(), hangfire(), freeRedis(), redlockNet(), foundatio(), serviceStack(), stackExchange()}
}
