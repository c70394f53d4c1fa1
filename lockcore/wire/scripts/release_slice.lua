-- A lock whose holders all stand in one string: write the string without those
-- that are to go, if it is still what was seen. Its TTL stays as it is.
-- ARGV[8] the string seen   ARGV[9] the string without them
local past = receipt()
if past then return past end
local v, other = look('GET', KEYS[1])
if other then return changed('', 'type') end
if not v then return gone() end
if v ~= ARGV[8] then return changed('', 'others') end
local guard = guard_fails()
if guard then return changed('', guard) end
local left = redis.call('PTTL', KEYS[1])
if left > 0 then redis.call('SET', KEYS[1], ARGV[9], 'PX', left) else redis.call('SET', KEYS[1], ARGV[9]) end
return done()
