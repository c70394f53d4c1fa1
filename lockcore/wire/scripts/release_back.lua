-- A semaphore whose free permits lie in a list: take these out of the hash of
-- those in use and put them back, so that who blocks on the list goes on.
-- KEYS[1] the hash   KEYS[5] the list   ARGV[8] n, then n times: permit, value seen
local past = receipt()
if past then return past end
local n, there, now = tonumber(ARGV[8]), 0, nil
for i = 0, n - 1 do
  local v, other = look('HGET', KEYS[1], ARGV[9 + 2 * i])
  if other then return changed('', 'type') end
  if v then there = there + 1 end
  if v and v ~= ARGV[10 + 2 * i] then now = ARGV[9 + 2 * i] .. '=' .. v end
end
if there == 0 then return gone() end
if there < n or now then return changed(now) end
local guard = guard_fails()
if guard then return changed('', guard) end

-- A permit that is taken away and cannot be given back is lost: what would
-- refuse it is looked for first.
local no = forbidden({ 'HDEL', KEYS[1], '' }, { 'LPUSH', KEYS[5], '' })
if no then return no end
redis.call('LLEN', KEYS[5])
for i = 0, n - 1 do
  redis.call('HDEL', KEYS[1], ARGV[9 + 2 * i])
  local r = redis.pcall('LPUSH', KEYS[5], ARGV[9 + 2 * i])
  if type(r) == 'table' and r.err then return half(r.err) end
end
return done()
