-- Deletes a lock that is a string, if it still holds ARGV[1].
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
