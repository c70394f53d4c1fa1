-- A lock whose holders all stand in one string: write the string without those
-- that are to go, if it is still what was seen. Its TTL stays as it is.
-- ARGV[8] the string seen   ARGV[9] the string without them
local past = receipt()
if past then return past end
local v = redis.call('GET', KEYS[1])
if not v then return { -1, '', -2, '' } end
if v ~= ARGV[8] or guard_fails() then return { 0, '', -2, '' } end
local left = redis.call('PTTL', KEYS[1])
if left > 0 then redis.call('SET', KEYS[1], ARGV[9], 'PX', left) else redis.call('SET', KEYS[1], ARGV[9]) end
return done()
