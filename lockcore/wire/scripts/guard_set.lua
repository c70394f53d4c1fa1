-- KEYS[2] the value's key  ARGV[4] the value
redis.call('SET', KEYS[2], ARGV[4])
return 1
