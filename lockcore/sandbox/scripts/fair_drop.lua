-- Leaves a Redisson fair lock and tells the first waiter alone.
-- KEYS: the lock, the queue. ARGV: holder, the start of the waiters' channels.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('DEL', KEYS[1])
local head = redis.call('LINDEX', KEYS[2], 0)
if head then
  redis.call('PUBLISH', ARGV[2] .. ':' .. head, '0')
end
return 1
