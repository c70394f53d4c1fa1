-- End fencepost's own lock for its holder: delete what was seen, raise the
-- fencing number so that the evicted holder is behind it, raise the guards that
-- were named, and tell the next waiter.
-- The head's keys and arguments (KEYS[2] is the counter, whether compared or not), then:
-- KEYS[5] the token's tombstone  KEYS[6] queue  KEYS[7] alive  KEYS[8] and on: guards to raise
-- ARGV[8] token seen  ARGV[9] fencing number seen  ARGV[10] life of the tombstone, ms  ARGV[11] window, ms
-- For a hold, ARGV[4] is the operator's value without its number: "<token>:since=…".
-- Answer: as the head, with the raised number in the second place when done
local past = receipt()
if past then return past end
local holder, other = look('GET', KEYS[1])
if other then return changed('', 'type') end
if not holder then return gone() end
local seen = ARGV[8] .. ':' .. ARGV[9] .. ':'
if string.sub(holder, 1, #seen) ~= seen then return changed(holder) end
local guard = guard_fails()
if guard then return changed(holder, guard) end

local function less(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

-- A key there that is no counter stops us here, before anything is changed. A
-- counter that was lost does not: the number seen is what has to be passed.
local counter = redis.call('GET', KEYS[2])
if counter and not string.match(counter, '^%d+$') then
  return redis.error_reply('CORRUPT the fence counter is not a number')
end
local no = forbidden({ 'DEL', KEYS[1] }, { 'SET', KEYS[2], '' }, { 'INCR', KEYS[2] })
if no then return no end

-- The evicted holder is behind this number from now on, by its lock and by its guards.
local function raise()
  if not counter or less(counter, ARGV[9]) then redis.call('SET', KEYS[2], ARGV[9]) end
  redis.call('INCR', KEYS[2])
  local raised = redis.call('GET', KEYS[2])
  for i = 8, #KEYS do
    local at = redis.pcall('GET', KEYS[i])
    local highest = type(at) == 'string' and string.match(at, '^(%d+):') or '0'
    if type(at) ~= 'table' and less(highest, raised) then redis.pcall('SET', KEYS[i], raised .. ':raised') end
  end
  redis.pcall('SET', KEYS[5], 0, 'PX', ARGV[10])
  return raised
end

local raised
local act = instead(
  function(ms) redis.call('PEXPIRE', KEYS[1], ms) end,
  function(value, ms)
    redis.call('DEL', KEYS[1])
    raised = raise()
    local token, rest = string.match(value, '^([^:]*):(.*)$')
    redis.call('SET', KEYS[1], token .. ':' .. raised .. ':' .. rest, 'PX', ms)
  end)
if act then
  if act[2] then act[2] = raised or '' end
  return act
end
redis.call('DEL', KEYS[1])
raised = raise()
local head, _, told = call_next(KEYS[6], KEYS[7], now_ms(), tonumber(ARGV[11]), ARGV[4])
local answer
if head then
  answer = { 1, raised, told, '' }
  if ARGV[7] ~= '' then redis.pcall('SET', KEYS[4], told, 'PX', ARGV[7]) end
else
  answer = done()
  answer[2] = raised
end
return answer
