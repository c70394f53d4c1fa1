-- Take the lock if it is free.
-- KEYS[1..3], ARGV[1..6] as in lock_head.lua; KEYS[4] a guard to enter, if given
-- Answer: the fencing number (a string: the lock is yours)
--         {0, value, PTTL} held  |  {-1} this token was given up  |  {-2, seen} the guard has seen a larger number
local holder = redis.call('GET', KEYS[1]) -- an error if this is no string: then it is no lock
if holder then
  return held_by_me(holder) or { 0, holder, redis.call('PTTL', KEYS[1]) }
end
if redis.call('EXISTS', KEYS[3]) == 1 then return { -1 } end -- a request that arrives after its release
return grant(KEYS[4])
