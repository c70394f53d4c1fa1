-- Takes a Symfony lock for writing: its token and the write marker, each with
-- the deadline as its score.
-- KEYS: the lock. ARGV: token, now and lease in ms. Answers 1 when it is held.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
if redis.call('ZCARD', KEYS[1]) > 0 and not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 0
end
redis.call('ZADD', KEYS[1], ARGV[2] + ARGV[3], ARGV[1], ARGV[2] + ARGV[3], '__write__')
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
