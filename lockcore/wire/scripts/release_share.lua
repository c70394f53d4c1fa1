-- A semaphore whose holders' shares are fields of a hash beside one counter:
-- take the holder out, and its share off the counter.
-- KEYS[1] the hash   KEYS[5] the counter
-- ARGV[8] the holder's field   ARGV[9] the share seen
local past = receipt()
if past then return past end
local share, other = look('HGET', KEYS[1], ARGV[8])
if other then return changed('', 'type') end
if not share then return gone() end
if share ~= ARGV[9] then return changed(ARGV[8] .. '=' .. share) end
local guard = guard_fails()
if guard then return changed(ARGV[8] .. '=' .. share, guard) end
local no = forbidden({ 'HDEL', KEYS[1], ARGV[8] }, { 'DECRBY', KEYS[5], ARGV[9] })
if no then return no end
if not tonumber(redis.call('GET', KEYS[5]) or '0') then
  return redis.error_reply('ERR the counter is not a number, nothing was changed')
end
redis.call('HDEL', KEYS[1], ARGV[8])
local n = redis.pcall('DECRBY', KEYS[5], ARGV[9])
if type(n) == 'table' and n.err then return half(n.err) end
return done()
