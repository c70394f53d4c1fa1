-- UPDATE … SET data = :value, version = version + 1 WHERE version = :version
-- KEYS[1] the data  KEYS[2] its version  ARGV[1] the version that was read  ARGV[2] value
-- Answer: the number of rows, 1 or 0
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('INCR', KEYS[2])
return 1
