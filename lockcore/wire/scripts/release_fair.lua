-- A Redisson fair lock: drop the waiters whose time is over, delete the lock,
-- tell only the waiter that is first now, on the channel of its own.
-- KEYS[5] the queue (list)   KEYS[6] its deadlines (sorted set, ms)
-- ARGV[8] the holder's field   ARGV[9] prefix of the waiters' channels
local past = receipt()
if past then return past end
if redis.call('EXISTS', KEYS[1]) == 0 then return gone() end
local held, other = look('HEXISTS', KEYS[1], ARGV[8])
if other then return changed('', 'type') end
if held == 0 then return changed(redis.call('HKEYS', KEYS[1])[1]) end
if redis.call('HLEN', KEYS[1]) ~= 1 then return changed('', 'others') end
local guard = guard_fails()
if guard then return changed(ARGV[8], guard) end
local act = instead(
  function(ms) redis.call('PEXPIRE', KEYS[1], ms) end,
  function(holder, ms)
    redis.call('HSET', KEYS[1], holder, 1)
    redis.call('HDEL', KEYS[1], ARGV[8])
    redis.call('PEXPIRE', KEYS[1], ms)
  end)
if act then return act end

local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local no = forbidden({ 'DEL', KEYS[1] }, { 'ZREM', KEYS[6], '' }, { 'LPOP', KEYS[5] })
if no then return no end
local head = redis.call('LINDEX', KEYS[5], 0)
while head do
  local deadline = redis.call('ZSCORE', KEYS[6], head)
  if not deadline or tonumber(deadline) > now then break end
  redis.call('ZREM', KEYS[6], head)
  redis.call('LPOP', KEYS[5])
  head = redis.call('LINDEX', KEYS[5], 0)
end
redis.call('DEL', KEYS[1])
if head then ARGV[4] = ARGV[9] .. head else ARGV[3] = '' end
return done()
