-- A guard that compares the number and not the token: equal numbers pass.
-- (That is the mistake of the story.)
-- KEYS[1] the highest number seen  KEYS[2] the data, if it is a write  ARGV[1] number  ARGV[2] value
local seen = tonumber(redis.call('GET', KEYS[1]) or '0')
if tonumber(ARGV[1]) < seen then return { 0, tostring(seen) } end
redis.call('SET', KEYS[1], ARGV[1])
if KEYS[2] then redis.call('SET', KEYS[2], ARGV[2]) end
return 1
