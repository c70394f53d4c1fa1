-- A Redisson fair lock: drop the waiters whose time is over, delete the lock,
-- tell only the waiter that is first now, on the channel of its own.
-- KEYS[5] the queue (list)   KEYS[6] its deadlines (sorted set, ms)
-- ARGV[8] the holder's field   ARGV[9] prefix of the waiters' channels
local past = receipt()
if past then return past end
if redis.call('EXISTS', KEYS[1]) == 0 then return { -1, '', -2, '' } end
if redis.call('HEXISTS', KEYS[1], ARGV[8]) == 0 or redis.call('HLEN', KEYS[1]) ~= 1 or guard_fails() then
  return { 0, redis.call('HKEYS', KEYS[1])[1] or '', -2, '' }
end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local head = redis.call('LINDEX', KEYS[5], 0)
while head do
  local deadline = redis.call('ZSCORE', KEYS[6], head)
  if not deadline or tonumber(deadline) > now then break end
  redis.call('ZREM', KEYS[6], head)
  redis.call('LPOP', KEYS[5])
  head = redis.call('LINDEX', KEYS[5], 0)
end
redis.call('DEL', KEYS[1])
if not head then return { 1, '', -2, '' } end
local told, err = 0, ''
for _, v in ipairs(ARGV[3] == 'BOTH' and { 'PUBLISH', 'SPUBLISH' } or { ARGV[3] }) do
  local n = redis.pcall(v, ARGV[9] .. head, ARGV[5])
  if type(n) ~= 'table' then told = told + n
  elseif v == 'PUBLISH' or ARGV[3] ~= 'BOTH' then told, err = -1, n.err end
end
if ARGV[7] ~= '' then redis.pcall('SET', KEYS[4], told, 'PX', ARGV[7]) end
return { 1, '', told, err }
