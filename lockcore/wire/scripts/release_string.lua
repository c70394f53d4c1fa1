-- A lock that is a string: delete it if it still holds the value seen.
-- ARGV[8] the value   ARGV[9] what of KEYS[5] and on goes with it: 'same' those with the same value, 'any' all
local past = receipt()
if past then return past end
local v = redis.call('GET', KEYS[1])
if not v then return { -1, '', -2, '' } end
if v ~= ARGV[8] or guard_fails() then return { 0, v, -2, '' } end
redis.call('DEL', KEYS[1])
for i = 5, #KEYS do
  if ARGV[9] == 'any' or redis.call('GET', KEYS[i]) == ARGV[8] then redis.call('DEL', KEYS[i]) end
end
return done()
