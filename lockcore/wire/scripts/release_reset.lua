-- A lock inside a cached hash: take the owner's field away and set the deadline
-- to what says that nobody has it. The hash and its other fields stay.
-- ARGV[8] the owner's field   ARGV[9] the owner seen   ARGV[10] the deadline's field   ARGV[11] what to set it to
local past = receipt()
if past then return past end
local owner = redis.call('HGET', KEYS[1], ARGV[8])
if not owner then return { -1, '', -2, '' } end
if owner ~= ARGV[9] or guard_fails() then return { 0, owner, -2, '' } end
redis.call('HDEL', KEYS[1], ARGV[8])
redis.call('HSET', KEYS[1], ARGV[10], ARGV[11])
return done()
