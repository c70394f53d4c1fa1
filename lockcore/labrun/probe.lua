-- The time to live of each key, before the lab does anything to it.
-- KEYS the keys of the step  Answer: PTTL of each
local out = {}
for i, key in ipairs(KEYS) do out[i] = redis.call('PTTL', key) end
return out
