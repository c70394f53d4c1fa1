-- Take the lock if it is free and nobody stands before this token in the queue;
-- else take a place in it, or keep the one there is.
-- KEYS[1..3], ARGV[1..6] as in lock_head.lua
-- KEYS[4] queue  KEYS[5] alive  KEYS[6] a guard to enter, if given
-- ARGV[7] window, ms  ARGV[8] channel  ARGV[9] 'queue' to wait, 'try' to take no place
-- Answer: as lock_acquire.lua, but {0, value or '', ms to wait, place}: the lock may be free and kept for another
local holder = redis.call('GET', KEYS[1])
local again = holder and held_by_me(holder)
if again then return again end
if redis.call('EXISTS', KEYS[3]) == 1 then return { -1 } end

local now, window = now_ms(), tonumber(ARGV[7])
local head, deadline
if not holder then
  head = first(KEYS[4], KEYS[5], now)
  if not head or head == ARGV[1] then
    local fence = grant(KEYS[6])
    if type(fence) == 'string' and head then
      leave(KEYS[4], KEYS[5], ARGV[1])
      redis.pcall('PUBLISH', ARGV[8], 'taken:' .. ARGV[1])
    end
    return fence
  end
  head, deadline = call_next(KEYS[4], KEYS[5], now, window, ARGV[8])
end

local wait = holder and redis.call('PTTL', KEYS[1]) or deadline - now
if ARGV[9] == 'try' then return { 0, holder or '', wait, -1 } end

if not redis.call('ZSCORE', KEYS[4], ARGV[1]) then
  local last = redis.call('ZRANGE', KEYS[4], -1, -1, 'WITHSCORES')[2] or '0'
  redis.call('ZADD', KEYS[4], tonumber(last) + 1, ARGV[1])
end
local life = math.max(wait, 0) + 4 * window
redis.call('HSET', KEYS[5], ARGV[1], whole(now + life) .. ':' .. ARGV[3])
for _, key in ipairs({ KEYS[4], KEYS[5] }) do
  if redis.call('PTTL', key) < life then redis.call('PEXPIRE', key, whole(life)) end
end
return { 0, holder or '', wait, redis.call('ZRANK', KEYS[4], ARGV[1]) }
