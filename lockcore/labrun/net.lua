-- The lab's net: whatever the step left without an expiry gets one, so that
-- nothing of the lab outlives it by more than that.
-- KEYS the keys of the step  ARGV[1] the net, ms; 0 on a server of the lab's own, which needs none
-- Answer: PTTL of each before the net
local out = {}
for i, key in ipairs(KEYS) do
  out[i] = redis.call('PTTL', key)
  if out[i] == -1 and ARGV[1] ~= '0' then redis.call('PEXPIRE', key, ARGV[1]) end
end
return out
