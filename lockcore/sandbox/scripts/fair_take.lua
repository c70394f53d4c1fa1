-- Takes a Redisson fair lock when it is free and nobody came earlier, else
-- stands in its queue.
-- KEYS: the lock, the queue, the waiters' deadlines
-- ARGV: lease in ms, holder, now, how long a waiter's place lasts (both ms)
-- Answers "OK", or the TTL of the lock.
while true do
  local head = redis.call('LINDEX', KEYS[2], 0)
  if not head then
    break
  end
  local deadline = redis.call('ZSCORE', KEYS[3], head)
  if deadline and tonumber(deadline) > tonumber(ARGV[3]) then
    break
  end
  redis.call('ZREM', KEYS[3], head)
  redis.call('LPOP', KEYS[2])
end
local head = redis.call('LINDEX', KEYS[2], 0)
if redis.call('EXISTS', KEYS[1]) == 0 and (not head or head == ARGV[2]) then
  redis.call('LPOP', KEYS[2])
  redis.call('ZREM', KEYS[3], ARGV[2])
  redis.call('HSET', KEYS[1], ARGV[2], '1')
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return 'OK'
end
if not redis.call('ZSCORE', KEYS[3], ARGV[2]) then
  redis.call('ZADD', KEYS[3], ARGV[3] + ARGV[4], ARGV[2])
  redis.call('RPUSH', KEYS[2], ARGV[2])
end
return redis.call('PTTL', KEYS[1])
