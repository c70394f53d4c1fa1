-- The queue of a Redisson fair lock that nobody holds: drop the waiters at its
-- head whose time is over, and tell the one that is first then.
-- KEYS[1] the lock, which must not exist   KEYS[5] the queue (list)   KEYS[6] its deadlines (sorted set, ms)
-- ARGV[8] prefix of the waiters' channels
local past = receipt()
if past then return past end
if redis.call('EXISTS', KEYS[1]) == 1 then return changed() end
local head = redis.call('LINDEX', KEYS[5], 0)
if not head then return gone() end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local no = forbidden({ 'ZREM', KEYS[6], '' }, { 'LPOP', KEYS[5] })
if no then return no end
while head do
  local deadline = redis.call('ZSCORE', KEYS[6], head)
  if deadline and tonumber(deadline) > now then break end
  redis.call('ZREM', KEYS[6], head)
  redis.call('LPOP', KEYS[5])
  head = redis.call('LINDEX', KEYS[5], 0)
end
if head then ARGV[4] = ARGV[8] .. head else ARGV[3] = '' end
return done()
