-- A lock inside a cached hash: take the owner's field away and set the deadline
-- to what says that nobody has it. The hash and its other fields stay.
-- ARGV[8] the owner's field   ARGV[9] the owner seen   ARGV[10] the deadline's field   ARGV[11] what to set it to
local past = receipt()
if past then return past end
local owner, other = look('HGET', KEYS[1], ARGV[8])
if other then return changed('', 'type') end
if not owner then return gone() end
if owner ~= ARGV[9] then return changed(owner) end
local guard = guard_fails()
if guard then return changed(owner, guard) end
local no = forbidden({ 'HDEL', KEYS[1], ARGV[8] }, { 'HSET', KEYS[1], ARGV[10], ARGV[11] })
if no then return no end
redis.call('HDEL', KEYS[1], ARGV[8])
local set = redis.pcall('HSET', KEYS[1], ARGV[10], ARGV[11])
if type(set) == 'table' and set.err then return half(set.err) end
return done()
