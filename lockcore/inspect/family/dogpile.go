package family

// dogpile is the mutex of dogpile.cache with distributed_lock: "_lock" and the
// cache key.
func dogpile() *Family {
	f := onRedisPy(Family{
		ID: "dogpile", Label: "dogpile.cache mutex",
		Looks: "a redis-py token under _lock and the cache key",
	}, Mutex, dogpileKey, "the holder goes on to write the value; somebody else may compute it too", true)
	f.Marks, f.Named = []string{"_lock"}, dogpileKey
	return f
}

func dogpileKey(key string) bool {
	_, _, ok := after(key, "_lock")
	return ok
}
