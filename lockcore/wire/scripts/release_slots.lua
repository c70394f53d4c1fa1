-- A lock of several string keys, each with a value that was seen: the permits of
-- a semaphore, or an owner and its expiry. Delete these, all or none.
-- KEYS[1] the lock (for its guard)   KEYS[5] and on: the keys   ARGV[8] and on: the value seen in each
local past = receipt()
if past then return past end
local there, now = 0, nil
for i = 5, #KEYS do
  local v, other = look('GET', KEYS[i])
  if other then return changed('', 'type') end
  if v then there = there + 1 end
  if v and v ~= ARGV[i + 3] then now = v end
end
if there == 0 then return gone() end
if there < #KEYS - 4 or now then return changed(now) end
local guard = guard_fails()
if guard then return changed('', guard) end
local no
for i = 5, #KEYS do no = no or forbidden({ 'DEL', KEYS[i] }) end
if no then return no end
for i = 5, #KEYS do redis.call('DEL', KEYS[i]) end
return done()
