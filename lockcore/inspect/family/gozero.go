package family

// goZero: a string of 16 random letters and digits; half a second is added to
// the lease, which by default is nothing but that. Source: go-zero
// core/stores/redis/redislock.go, core/stringx/random.go.
func goZero() *Family {
	return shapeFamily("go-zero", "go-zero RedisLock", "a string of 16 letters and digits",
		func(v string) bool { return isAlnum(v, 16) && looksRandom(v) }, "")
}
