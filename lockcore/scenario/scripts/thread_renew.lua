-- Lengthen the lease of a lock that is known by process:thread.
-- KEYS[1] the lock  ARGV[1] process:thread  ARGV[2] lease, ms
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
