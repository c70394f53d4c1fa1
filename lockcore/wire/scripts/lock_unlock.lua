-- Give the lock up, and forbid the token for good: a request that still
-- travels may not take the lock again. Also the answer to "was I granted?"
-- when nobody knows any more.
-- KEYS[1] the lock  KEYS[2] the token's tombstone
-- ARGV[1] token  ARGV[2] life of the tombstone, ms  ARGV[3] channel
-- Answer: 1 released | {0, value} somebody else holds it | -1 there is no lock
--         Asked again it answers as it did the first time (0 without the value).
local before = redis.call('GET', KEYS[2])
if before then return tonumber(before) end
local holder, mine, answer = redis.call('GET', KEYS[1]), ARGV[1] .. ':', -1
if holder then
  answer = 0
  if string.sub(holder, 1, #mine) == mine then
    redis.call('DEL', KEYS[1]) -- first: with the memory full Redis allows a DEL, and after it the rest too
    answer = 1
  end
end
local kept = redis.pcall('SET', KEYS[2], answer, 'PX', ARGV[2])
if answer == 1 then
  redis.pcall('PUBLISH', ARGV[3], 'free')
elseif kept.err and string.find(kept.err, 'READONLY', 1, true) then
  return kept -- a replica knows nothing for sure
end
if answer == 0 then return { 0, holder } end
return answer
