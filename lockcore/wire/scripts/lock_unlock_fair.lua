-- As lock_unlock.lua, and leave the queue; if the lock is free then, tell the
-- first waiter.
-- KEYS[1] the lock  KEYS[2] the token's tombstone  KEYS[3] queue  KEYS[4] alive
-- ARGV[1] token  ARGV[2] life of the tombstone, ms  ARGV[3] channel  ARGV[4] window, ms
local holder, mine = redis.call('GET', KEYS[1]), ARGV[1] .. ':'
local answer = holder and 0 or -1
if holder and string.sub(holder, 1, #mine) == mine then
  redis.call('DEL', KEYS[1])
  answer = 1
else
  local before = redis.call('GET', KEYS[2])
  if before then return tonumber(before) end
end
local kept = redis.pcall('SET', KEYS[2], answer, 'PX', ARGV[2])
if answer ~= 1 and kept.err and string.find(kept.err, 'READONLY', 1, true) then return kept end
leave(KEYS[3], KEYS[4], ARGV[1])
if answer ~= 0 then
  local head = call_next(KEYS[3], KEYS[4], now_ms(), tonumber(ARGV[4]), ARGV[3])
  if not head and answer == 1 then redis.pcall('PUBLISH', ARGV[3], 'free') end
end
return answer == 0 and { 0, holder } or answer
