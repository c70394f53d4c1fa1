-- A lock whose holders are members of a sorted set or a set: remove those seen.
-- ARGV[8] ZREM or SREM   ARGV[9] how many members the key must have, '' any
-- ARGV[10] 'deadlines': scores are deadlines in ms, the key shall expire with the last; '' leave its TTL
-- ARGV[11] n, then the n members seen, then others that go with them (a write marker)
-- KEYS[5] and on: sets or sorted sets that hold the same members
local past = receipt()
if past then return past end
if redis.call('EXISTS', KEYS[1]) == 0 then return gone() end
local zset = ARGV[8] == 'ZREM'
local n, missing = tonumber(ARGV[11]), 0
for i = 12, 11 + n do
  local there, other = look(zset and 'ZSCORE' or 'SISMEMBER', KEYS[1], ARGV[i])
  if other then return changed('', 'type') end
  if not there or there == 0 then missing = missing + 1 end
end
if missing == n and ARGV[9] == '' then return gone() end
if missing > 0 then return changed() end
local size = redis.call(zset and 'ZCARD' or 'SCARD', KEYS[1])
if ARGV[9] ~= '' and size ~= tonumber(ARGV[9]) then return changed('', 'others') end
local guard = guard_fails()
if guard then return changed('', guard) end

-- Where scores are deadlines, the key ends with the last of them. pcall: what
-- was to be done is done by now, whatever this user may do.
local function end_with_last()
  if ARGV[10] ~= 'deadlines' or not zset then return end
  local last = redis.pcall('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
  if last[2] then redis.pcall('PEXPIREAT', KEYS[1], string.format('%.0f', tonumber(last[2]))) end
end
local function deadline(ms)
  local t = redis.call('TIME')
  return string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000) + tonumber(ms))
end
local act = instead(
  function(ms)
    local at = deadline(ms)
    if ARGV[10] == 'deadlines' then
      for i = 12, #ARGV do redis.call('ZADD', KEYS[1], 'XX', at, ARGV[i]) end
    end
    if ARGV[10] == 'deadlines' then end_with_last() else redis.call('PEXPIREAT', KEYS[1], at) end
  end,
  function(holder, ms)
    local at = deadline(ms)
    redis.call('ZADD', KEYS[1], at, holder)
    for i = 12, 11 + n do redis.call('ZREM', KEYS[1], ARGV[i]) end
    for i = 12 + n, #ARGV do redis.call('ZADD', KEYS[1], at, ARGV[i]) end
    end_with_last()
  end)
if act then return act end
for i = 12, #ARGV do
  redis.call(ARGV[8], KEYS[1], ARGV[i])
  for k = 5, #KEYS do redis.call(ARGV[8], KEYS[k], ARGV[i]) end
end
end_with_last()
return done()
