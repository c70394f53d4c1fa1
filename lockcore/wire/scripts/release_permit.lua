-- A semaphore whose permits are counted apart from their holders: take the
-- holder's entry away and give the permit back, so that a waiter can have it.
-- KEYS[5] where free permits are kept
-- ARGV[8] ZREM or HDEL (the entry, in KEYS[1])   ARGV[9] the entry
-- ARGV[10] INCRBY (publish the new number) or LPUSH (push the entry back)   ARGV[11] how many, or what to push
local past = receipt()
if past then return past end
if redis.call('EXISTS', KEYS[1]) == 0 then return gone() end
local there, other = look(ARGV[8] == 'ZREM' and 'ZSCORE' or 'HGET', KEYS[1], ARGV[9])
if other then return changed('', 'type') end
if not there then return gone() end
local guard = guard_fails()
if guard then return changed('', guard) end

-- A permit that is taken away and cannot be given back is lost: what would
-- refuse it is looked for first.
local no = forbidden({ ARGV[8], KEYS[1], ARGV[9] }, { ARGV[10], KEYS[5], ARGV[11] })
if no then return no end
if ARGV[10] == 'LPUSH' then redis.call('LLEN', KEYS[5])
elseif not tonumber(redis.call('GET', KEYS[5]) or '0') then
  return redis.error_reply('ERR the number of free permits is not a number, nothing was changed')
end
redis.call(ARGV[8], KEYS[1], ARGV[9])
local n = redis.pcall(ARGV[10], KEYS[5], ARGV[11])
if type(n) == 'table' and n.err then return half(n.err) end
if ARGV[10] == 'LPUSH' then return done() end
return done(string.format('%.0f', n))
