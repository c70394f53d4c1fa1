-- Leaves a python-redis-lock and wakes one waiter through the signal list.
-- KEYS: the lock, the list. ARGV: holder.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[2])
redis.call('LPUSH', KEYS[2], '1')
redis.call('PEXPIRE', KEYS[2], 1000)
return redis.call('DEL', KEYS[1])
