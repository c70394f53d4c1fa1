-- A lock whose holders are members of a sorted set or a set: remove those seen.
-- ARGV[8] ZREM or SREM   ARGV[9] how many members the key must have, '' any
-- ARGV[10] 'deadlines': scores are deadlines in ms, the key shall expire with the last; '' leave its TTL
-- ARGV[11] n, then the n members seen, then others that go with them (a write marker)
-- KEYS[5] and on: sets or sorted sets that hold the same members
local past = receipt()
if past then return past end
if redis.call('EXISTS', KEYS[1]) == 0 then return { -1, '', -2, '' } end
local zset = ARGV[8] == 'ZREM'
local n, missing = tonumber(ARGV[11]), 0
for i = 12, 11 + n do
  local there
  if zset then there = redis.call('ZSCORE', KEYS[1], ARGV[i])
  else there = redis.call('SISMEMBER', KEYS[1], ARGV[i]) == 1 end
  if not there then missing = missing + 1 end
end
if missing == n and ARGV[9] == '' then return { -1, '', -2, '' } end
if missing > 0 then return { 0, '', -2, '' } end
local size = redis.call(zset and 'ZCARD' or 'SCARD', KEYS[1])
if ARGV[9] ~= '' and size ~= tonumber(ARGV[9]) then return { 0, '', -2, '' } end
if guard_fails() then return { 0, '', -2, '' } end
for i = 12, #ARGV do
  redis.call(ARGV[8], KEYS[1], ARGV[i])
  for k = 5, #KEYS do redis.call(ARGV[8], KEYS[k], ARGV[i]) end
end
if ARGV[10] == 'deadlines' and zset then -- pcall: the holder is out by now, whatever this user may do
  local last = redis.pcall('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
  if last[2] then redis.pcall('PEXPIREAT', KEYS[1], string.format('%.0f', tonumber(last[2]))) end
end
return done()
