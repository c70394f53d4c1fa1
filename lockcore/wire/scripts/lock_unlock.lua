-- Give the lock up, and forbid the token for good: a request that still
-- travels may not take the lock again. Also the answer to "was I granted?"
-- when nobody knows any more.
-- KEYS[1] the lock  KEYS[2] the token's tombstone
-- ARGV[1] token  ARGV[2] life of the tombstone, ms  ARGV[3] channel
-- Answer: 1 released | {0, value} somebody else holds it | -1 there is no lock
--         Asked again it answers as it did the first time (0 without the value).
local holder, mine = redis.call('GET', KEYS[1]), ARGV[1] .. ':'
if holder and string.sub(holder, 1, #mine) == mine then
  redis.call('DEL', KEYS[1]) -- first: with the memory full Redis allows a DEL, and after it the rest too
  redis.pcall('SET', KEYS[2], 1, 'PX', ARGV[2])
  redis.pcall('PUBLISH', ARGV[3], 'free')
  return 1
end
local before = redis.call('GET', KEYS[2])
if before then return tonumber(before) end
local answer = holder and 0 or -1
local kept = redis.pcall('SET', KEYS[2], answer, 'PX', ARGV[2])
if kept.err and string.find(kept.err, 'READONLY', 1, true) then return kept end -- a replica knows nothing for sure
return holder and { 0, holder } or -1
