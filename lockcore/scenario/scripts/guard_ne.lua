-- UPDATE … SET data = :value WHERE fence = :number, the first writer setting it
-- It refuses every newer holder. (That is the mistake of the story.)
-- KEYS[1] the number in the row  KEYS[2] the data  ARGV[1] number  ARGV[2] value
local seen = redis.call('GET', KEYS[1])
if seen and seen ~= ARGV[1] then return { 0, seen } end
redis.call('MSET', KEYS[1], ARGV[1], KEYS[2], ARGV[2])
return 1
