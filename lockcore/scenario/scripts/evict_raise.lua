-- Release for a holder what was seen, and raise the number in the same step.
-- KEYS[1] the lock  KEYS[2] the counter  ARGV[1] the value that was seen
-- Answer: {1, number} | {0} it is another one now
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 0 } end
redis.call('DEL', KEYS[1])
redis.call('INCR', KEYS[2])
return { 1, redis.call('GET', KEYS[2]) }
