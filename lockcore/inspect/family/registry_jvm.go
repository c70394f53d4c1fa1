package family

// jvmFamilies are the lock libraries of the Java world; Redisson stands among
// the specific ones.
func jvmFamilies() []*Family {
	return []*Family{shedlock(), jedisLock(), springIntegration()}
}
