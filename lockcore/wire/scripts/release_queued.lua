-- A lock that is a string, whose holder also stands in the queue: delete it if
-- it still holds the value seen, and take that value out of the queue.
-- KEYS[5] the queue (sorted set)   KEYS[6] and on: deleted with the lock
-- ARGV[8] the value
local past = receipt()
if past then return past end
local v = redis.call('GET', KEYS[1])
if not v then return { -1, '', -2, '' } end
if v ~= ARGV[8] or guard_fails() then return { 0, v, -2, '' } end
redis.call('ZREM', KEYS[5], ARGV[8])
redis.call('DEL', KEYS[1])
for i = 6, #KEYS do redis.call('DEL', KEYS[i]) end
return done()
