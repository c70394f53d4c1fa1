-- A semaphore whose free permits lie in a list: take these out of the hash of
-- those in use and put them back, so that who blocks on the list goes on.
-- KEYS[1] the hash   KEYS[5] the list   ARGV[8] n, then n times: permit, value seen
local past = receipt()
if past then return past end
local n, there, now = tonumber(ARGV[8]), 0, nil
for i = 0, n - 1 do
  local v = redis.call('HGET', KEYS[1], ARGV[9 + 2 * i])
  if v then there = there + 1 end
  if v and v ~= ARGV[10 + 2 * i] then now = ARGV[9 + 2 * i] .. '=' .. v end
end
if there == 0 then return { -1, '', -2, '' } end
if there < n or now or guard_fails() then return { 0, now or '', -2, '' } end
for i = 0, n - 1 do
  redis.call('HDEL', KEYS[1], ARGV[9 + 2 * i])
  redis.call('LPUSH', KEYS[5], ARGV[9 + 2 * i])
end
return done()
