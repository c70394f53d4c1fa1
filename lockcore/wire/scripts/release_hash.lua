-- A lock that is a hash, or a field of one: act if every field seen is still there.
-- ARGV[8] DEL the key, or HDEL the fields   ARGV[9] how many fields the hash must have, '' any
-- ARGV[10] n, then n times: field, '=' or '?', value ('?': any value will do)
-- then the fields to delete besides those n.   KEYS[5] and on: deleted with a DEL.
local past = receipt()
if past then return past end
if redis.call('EXISTS', KEYS[1]) == 0 then return { -1, '', -2, '' } end
local n, seen, there = tonumber(ARGV[10]), {}, 0
for i = 0, n - 1 do
  local field, how, want = ARGV[11 + 3 * i], ARGV[12 + 3 * i], ARGV[13 + 3 * i]
  local v = redis.call('HGET', KEYS[1], field)
  if v then there = there + 1 end
  if not v or (how == '=' and v ~= want) then
    seen.changed, seen.now = true, v and (field .. '=' .. v) or seen.now
  end
end
if seen.changed then
  if there == 0 and ARGV[8] == 'HDEL' then return { -1, '', -2, '' } end
  return { 0, seen.now or '', -2, '' }
end
if ARGV[9] ~= '' and redis.call('HLEN', KEYS[1]) ~= tonumber(ARGV[9]) then return { 0, '', -2, '' } end
if guard_fails() then return { 0, '', -2, '' } end
if ARGV[8] == 'DEL' then
  redis.call('DEL', KEYS[1])
  for i = 5, #KEYS do redis.call('DEL', KEYS[i]) end
else
  for i = 0, n - 1 do redis.call('HDEL', KEYS[1], ARGV[11 + 3 * i]) end
  for i = 11 + 3 * n, #ARGV do redis.call('HDEL', KEYS[1], ARGV[i]) end
end
return done()
