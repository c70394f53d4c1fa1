-- A payment service with idempotency keys: the same key gets the first answer.
-- KEYS[1] the ledger  KEYS[2] the idempotency key  ARGV[1] amount
-- Answer: how many charges there are now; 0 this one was made before
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
local n = redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], n)
return n
