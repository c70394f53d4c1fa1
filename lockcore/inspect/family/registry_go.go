package family

// goFamilies are the lock libraries written in Go and Rust.
func goFamilies() []*Family {
	return []*Family{
		goRedislock(), asynq(), gocraftWork(), machinery(), juicefs(), rockscache(), dapr(), redsync(), redislock(),
		valkeyrie(), rslock(), goZero(),
	}
}
