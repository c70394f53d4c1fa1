-- UPDATE … SET data = :value, fence = :number WHERE fence < :number
-- It refuses the holder's own second write. (That is the mistake of the story.)
-- KEYS[1] the number in the row  KEYS[2] the data  ARGV[1] number  ARGV[2] value
local seen = tonumber(redis.call('GET', KEYS[1]) or '0')
if tonumber(ARGV[1]) <= seen then return { 0, tostring(seen) } end
redis.call('MSET', KEYS[1], ARGV[1], KEYS[2], ARGV[2])
return 1
