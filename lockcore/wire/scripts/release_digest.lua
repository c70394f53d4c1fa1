-- A unique job of sidekiq-unique-jobs: take these jobs out of the lock. With the
-- last of them go the keys around it and its entries in the registries.
-- KEYS[1] the hash of those that hold it   KEYS[5], KEYS[6] the registries (sorted sets)   KEYS[7] and on: the keys around it
-- ARGV[8] the digest, as the registries have it   ARGV[9] n, then n times: job id, value seen
local past = receipt()
if past then return past end
local n, there, now = tonumber(ARGV[9]), 0, nil
for i = 0, n - 1 do
  local v, other = look('HGET', KEYS[1], ARGV[10 + 2 * i])
  if other then return changed('', 'type') end
  if v then there = there + 1 end
  if v and v ~= ARGV[11 + 2 * i] then now = ARGV[10 + 2 * i] .. '=' .. v end
end
if there == 0 then return gone() end
if there < n or now then return changed(now) end
local guard = guard_fails()
if guard then return changed('', guard) end
local no = forbidden({ 'HDEL', KEYS[1], '' }, { 'ZREM', KEYS[5], '' }, { 'ZREM', KEYS[6], '' })
for i = 7, #KEYS do no = no or forbidden({ 'DEL', KEYS[i] }) end
if no then return no end
for i = 0, n - 1 do redis.call('HDEL', KEYS[1], ARGV[10 + 2 * i]) end
if redis.call('EXISTS', KEYS[1]) == 0 then
  for i = 7, #KEYS do redis.call('DEL', KEYS[i]) end
  for i = 5, 6 do
    local r = redis.pcall('ZREM', KEYS[i], ARGV[8])
    if type(r) == 'table' and r.err then return half(r.err) end
  end
end
return done()
