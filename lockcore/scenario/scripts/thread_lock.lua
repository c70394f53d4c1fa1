-- A re-entrant lock that knows its owner as process:thread, and counts.
-- KEYS[1] the lock  ARGV[1] process:thread  ARGV[2] lease, ms
-- Answer: {1, count} | {0, PTTL} somebody else holds it
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return { 0, redis.call('PTTL', KEYS[1]) }
end
local count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { 1, count }
