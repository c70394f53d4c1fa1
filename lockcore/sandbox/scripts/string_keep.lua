-- Renews a lock that is a string, if it still holds ARGV[2]. ARGV[1]: lease in ms.
if redis.call('GET', KEYS[1]) ~= ARGV[2] then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
