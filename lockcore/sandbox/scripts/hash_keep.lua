-- Renews a lock that is a hash, if the field ARGV[2] still holds it.
-- KEYS: the lock, then further keys that live as long. ARGV: lease in ms, holder.
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return 0
end
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, ARGV[1])
end
return 1
