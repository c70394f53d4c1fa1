-- A semaphore whose permits are counted apart from their holders: take the
-- holder's entry away and give the permit back, so that a waiter can have it.
-- KEYS[5] where free permits are kept
-- ARGV[8] ZREM or HDEL (the entry, in KEYS[1])   ARGV[9] the entry
-- ARGV[10] INCRBY (publish the new number) or LPUSH (push the entry back)   ARGV[11] how many, or what to push
local past = receipt()
if past then return past end
if redis.call('EXISTS', KEYS[1]) == 0 then return { -1, '', -2, '' } end
if guard_fails() then return { 0, '', -2, '' } end
if redis.call(ARGV[8], KEYS[1], ARGV[9]) == 0 then return { -1, '', -2, '' } end
if ARGV[10] == 'LPUSH' then
  redis.call('LPUSH', KEYS[5], ARGV[11])
  return done()
end
return done(tostring(redis.call('INCRBY', KEYS[5], ARGV[11])))
