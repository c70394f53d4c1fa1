-- A semaphore whose permits are string keys of their own, each with its holder's
-- token: delete these, all or none.
-- KEYS[1] the first slot (for its guard)   KEYS[5] and on: the slots   ARGV[8] and on: the token seen in each
local past = receipt()
if past then return past end
local there, now = 0, nil
for i = 5, #KEYS do
  local v = redis.call('GET', KEYS[i])
  if v then there = there + 1 end
  if v and v ~= ARGV[i + 3] then now = v end
end
if there == 0 then return { -1, '', -2, '' } end
if there < #KEYS - 4 or now or guard_fails() then return { 0, now or '', -2, '' } end
for i = 5, #KEYS do redis.call('DEL', KEYS[i]) end
return done()
