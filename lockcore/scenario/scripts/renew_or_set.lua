-- A renewal that puts a missing lock back. (That is the mistake of the story.)
-- KEYS[1] the lock  ARGV[1] token  ARGV[2] lease, ms
local holder = redis.call('GET', KEYS[1])
if not holder then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
if holder ~= ARGV[1] and string.sub(holder, 1, #ARGV[1] + 1) ~= ARGV[1] .. ':' then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
