-- Set the lock's TTL, if this token holds it. A missing lock is not put back:
-- somebody may have held it in between.
-- KEYS[1] the lock  ARGV[1] token  ARGV[2] TTL, ms
-- Answer: 1 renewed | {0, value} somebody else holds it | -1 there is no lock
local holder = redis.call('GET', KEYS[1])
if not holder then
  redis.call('DEL', KEYS[1]) -- changes nothing, and fails on a replica, which knows nothing for sure
  return -1
end
local mine = ARGV[1] .. ':'
if string.sub(holder, 1, #mine) ~= mine then return { 0, holder } end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
