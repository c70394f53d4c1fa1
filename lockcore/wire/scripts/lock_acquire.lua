-- Take the lock if it is free, and draw its fencing number, in one step.
-- KEYS[1..3], ARGV[1..3] as in lock_head.lua
-- Answer: the fencing number, a string: the lock is yours
--         {0, value, PTTL} somebody holds it | {-1} this token was given up
if redis.call('EXISTS', KEYS[1], KEYS[3]) > 0 then
  local holder = redis.call('GET', KEYS[1]) -- an error if this is no string: then it is no lock
  if not holder then return { -1 } end -- a request that arrives after its own release
  return again(holder) or { 0, holder, redis.call('PTTL', KEYS[1]) }
end

-- INCR stands before SET: Redis does not roll a script back, so what may fail
-- comes while there is no lock yet. GET after INCR: a Lua number is a double,
-- exact to 2^53 only, so a fence never is one.
redis.call('INCR', KEYS[2])
return give(redis.call('GET', KEYS[2]), redis.call('TIME'))
