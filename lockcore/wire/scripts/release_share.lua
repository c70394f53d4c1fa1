-- A semaphore whose holders' shares are fields of a hash beside one counter:
-- take the holder out, and its share off the counter.
-- KEYS[1] the hash   KEYS[5] the counter
-- ARGV[8] the holder's field   ARGV[9] the share seen
local past = receipt()
if past then return past end
local share = redis.call('HGET', KEYS[1], ARGV[8])
if not share then return { -1, '', -2, '' } end
if share ~= ARGV[9] or guard_fails() then return { 0, ARGV[8] .. '=' .. share, -2, '' } end
redis.call('HDEL', KEYS[1], ARGV[8])
redis.call('DECRBY', KEYS[5], ARGV[9])
return done()
