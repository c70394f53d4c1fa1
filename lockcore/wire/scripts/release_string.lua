-- A lock that is a string: delete it if it still holds the value seen.
-- ARGV[8] the value   ARGV[9] what of KEYS[5] and on goes with it: 'same' those with the same value, 'any' all
local past = receipt()
if past then return past end
local v, other = look('GET', KEYS[1])
if other then return changed('', 'type') end
if not v then return gone() end
if v ~= ARGV[8] then return changed(v) end
local guard = guard_fails()
if guard then return changed(v, guard) end

local function each(act)
  act(KEYS[1])
  for i = 5, #KEYS do
    if ARGV[9] == 'any' or look('GET', KEYS[i]) == ARGV[8] then act(KEYS[i]) end
  end
end
local other_act = instead(
  function(ms) each(function(key) redis.call('PEXPIRE', key, ms) end) end,
  function(holder, ms) each(function(key) redis.call('SET', key, holder, 'PX', ms) end) end)
if other_act then return other_act end
each(function(key) redis.call('DEL', key) end)
return done()
