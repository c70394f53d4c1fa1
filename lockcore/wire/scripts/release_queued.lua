-- A lock that is a string, whose holder also stands in the queue: delete it if
-- it still holds the value seen, and take that value out of the queue.
-- KEYS[5] the queue (sorted set)   KEYS[6] and on: deleted with the lock
-- ARGV[8] the value
local past = receipt()
if past then return past end
local v, other = look('GET', KEYS[1])
if other then return changed('', 'type') end
if not v then return gone() end
if v ~= ARGV[8] then return changed(v) end
local guard = guard_fails()
if guard then return changed(v, guard) end
local act = instead(function(ms) redis.call('PEXPIRE', KEYS[1], ms) end)
if act then return act end
local no = forbidden({ 'DEL', KEYS[1] }, { 'ZREM', KEYS[5], '' })
if no then return no end
redis.call('DEL', KEYS[1])
for i = 6, #KEYS do redis.call('DEL', KEYS[i]) end
local left = redis.pcall('ZREM', KEYS[5], ARGV[8])
if type(left) == 'table' and left.err then return half(left.err) end
return done()
