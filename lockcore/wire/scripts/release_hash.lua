-- A lock that is a hash, or a field of one: act if every field seen is still there.
-- ARGV[8] DEL the key, or HDEL the fields   ARGV[9] how many fields the hash must have, '' any
-- ARGV[10] n, then n times: field, '=' or '?', value ('?': any value will do)
-- then the fields to delete besides those n.   KEYS[5] and on: deleted with a DEL.
local past = receipt()
if past then return past end
local exists = redis.call('EXISTS', KEYS[1])
if exists == 0 then return gone() end
local n, there, differs, now = tonumber(ARGV[10]), 0, false, nil
for i = 0, n - 1 do
  local field, how, want = ARGV[11 + 3 * i], ARGV[12 + 3 * i], ARGV[13 + 3 * i]
  local v, other = look('HGET', KEYS[1], field)
  if other then return changed('', 'type') end
  if v then there = there + 1 end
  if not v or (how == '=' and v ~= want) then
    differs, now = true, v and (field .. '=' .. v) or now
  end
end
if differs then
  if there == 0 and ARGV[8] == 'HDEL' then return gone() end
  return changed(now)
end
if ARGV[9] ~= '' and redis.call('HLEN', KEYS[1]) ~= tonumber(ARGV[9]) then return changed('', 'others') end
local guard = guard_fails()
if guard then return changed('', guard) end

local function leave()
  for i = 0, n - 1 do redis.call('HDEL', KEYS[1], ARGV[11 + 3 * i]) end
  for i = 11 + 3 * n, #ARGV do redis.call('HDEL', KEYS[1], ARGV[i]) end
end
-- A hold keeps the fields that were compared exactly (the mode), and takes the
-- place of the holders. Its field comes before theirs go: a hash without fields
-- is no more, and loses its TTL.
local act = instead(
  function(ms) redis.call('PEXPIRE', KEYS[1], ms) end,
  function(holder, ms)
    redis.call('HSET', KEYS[1], holder, 1)
    for i = 0, n - 1 do
      if ARGV[12 + 3 * i] ~= '=' then redis.call('HDEL', KEYS[1], ARGV[11 + 3 * i]) end
    end
    redis.call('PEXPIRE', KEYS[1], ms)
  end)
if act then return act end
if ARGV[8] == 'DEL' then
  redis.call('DEL', KEYS[1])
  for i = 5, #KEYS do redis.call('DEL', KEYS[i]) end
else
  leave()
end
return done()
