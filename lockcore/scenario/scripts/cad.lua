-- Compare and delete: the lock is removed only if it still has this value.
-- KEYS[1] the lock  ARGV[1] the value
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
