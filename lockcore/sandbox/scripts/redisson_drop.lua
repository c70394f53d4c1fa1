-- Leaves a Redisson lock and tells whoever waits.
-- KEYS: the lock. ARGV: holder, channel. Answers 1 when it was held by that holder.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[2], '0')
return 1
