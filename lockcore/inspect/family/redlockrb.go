package family

// redlockRb: a bare random UUID under any key (lib/redlock/client.rb). Its
// extend can put a lock back that is gone.
func redlockRb() *Family {
	return shapeFamily("redlock-rb", "redlock-rb", uuidLooks, isUUID4,
		"release it on all servers of the group; a holder that extends may put the lock back")
}
