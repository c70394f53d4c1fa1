-- lock_acquire.lua with everything that an acquisition may want besides: a
-- number above a floor, a guard entered in the same step, a turn in the queue.
-- KEYS[1..3], ARGV[1..3] as in lock_head.lua
-- KEYS[4] queue  KEYS[5] alive  KEYS[6] a guard to enter   (one that is not used stands there as the lock's own name)
-- ARGV[4] floor: the number must be larger; '' none
-- ARGV[5] life of the counter, ms; '' for ever
-- ARGV[6] 'clock': the number is also at least the server's time in microseconds
-- ARGV[7] channel  ARGV[8] window, ms  ARGV[9] 'queue' to wait, 'try' to take no place; all '' outside fair mode
-- Answer: as lock_acquire.lua; in fair mode {0, value or '', ms to wait, place}: the lock may be free and kept for another
--         {-2, seen} the guard has seen a number that is not smaller; nothing is held

-- Numbers are compared as text: the shorter is the smaller, then the digits.
local function less(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

-- Draws a number. The counter never goes down; a floor repairs one that was
-- lost, and the clock does the same unasked.
local function draw(time)
  local floor = ARGV[4]
  if ARGV[6] == 'clock' then
    local micros = time[1] .. string.format('%06d', time[2])
    if less(floor, micros) then floor = micros end
  end
  if floor ~= '' and less(redis.call('GET', KEYS[2]) or '0', floor) then redis.call('SET', KEYS[2], floor) end
  redis.call('INCR', KEYS[2])
  if ARGV[5] ~= '' then redis.call('PEXPIRE', KEYS[2], ARGV[5]) end
  return redis.call('GET', KEYS[2])
end

local function grant()
  local time = redis.call('TIME')
  local fence = draw(time)
  local bad = unsound(fence) -- before the guard has seen it
  if bad then return bad end
  if KEYS[6] ~= KEYS[1] then
    local seen = redis.call('GET', KEYS[6])
    if seen then
      local highest = string.match(seen, '^(%d+):')
      if not highest then return redis.error_reply('CORRUPT the guard does not hold number:token') end
      if not less(highest, fence) then return { -2, highest } end
    end
    redis.call('SET', KEYS[6], fence .. ':' .. ARGV[1])
  end
  return give(fence, time)
end

local fair = ARGV[9] ~= ''
local holder = redis.call('GET', KEYS[1])
local before = holder and again(holder)
if before then return before end
if redis.call('EXISTS', KEYS[3]) == 1 then return { -1 } end
if not fair then return holder and { 0, holder, redis.call('PTTL', KEYS[1]) } or grant() end

local now, window = now_ms(), tonumber(ARGV[8])
local head, deadline
if not holder then
  head = first(KEYS[4], KEYS[5], now, window)
  if not head or head == ARGV[1] then
    local fence = grant()
    if type(fence) == 'string' and head then
      leave(KEYS[4], KEYS[5], ARGV[1])
      redis.pcall('PUBLISH', ARGV[7], 'taken:' .. ARGV[1])
    end
    return fence
  end
  head, deadline = call_next(KEYS[4], KEYS[5], now, window, ARGV[7])
end
local wait = holder and redis.call('PTTL', KEYS[1]) or deadline - now
if ARGV[9] == 'try' then return { 0, holder or '', wait, -1 } end
-- It shows up again when the lock is over; where nobody holds it, whoever comes
-- now will keep it for about as long as this one would.
local life = (holder and math.max(wait, 0) or tonumber(ARGV[2])) + 4 * window
return { 0, holder or '', wait, stay(KEYS[4], KEYS[5], now, life) }
