-- Takes a Redisson lock, or enters it once more.
-- KEYS: the lock, and the fence counter of a fenced lock
-- ARGV: lease in ms, holder. Answers "OK", or the TTL of the lock that another holds.
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
if KEYS[2] then
  redis.call('INCR', KEYS[2])
end
return 'OK'
