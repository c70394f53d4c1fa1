-- Jobs that a Bottleneck limiter counts as running: take them off, as its own
-- scripts do with jobs whose time is over, and tell the clients what is free.
-- KEYS[1] the settings   KEYS[5] the jobs' weights (hash)   KEYS[6] their clients (hash)
-- KEYS[7] their deadlines (sorted set)   KEYS[8] what each client runs (sorted set)   ARGV[8] and on: the jobs
local past = receipt()
if past then return past end
local there = 0
for i = 8, #ARGV do
  local v, other = look('HGET', KEYS[5], ARGV[i])
  if other then return changed('', 'type') end
  if v then there = there + 1 end
end
if there == 0 then return gone() end
if there < #ARGV - 7 then return changed() end
local guard = guard_fails()
if guard then return changed('', guard) end
local no = forbidden({ 'HDEL', KEYS[5], '' }, { 'HDEL', KEYS[6], '' }, { 'ZREM', KEYS[7], '' }, { 'ZINCRBY', KEYS[8], '0', '' },
  { 'HINCRBY', KEYS[1], 'running', '0' })
if no then return no end
local limit, reservoir = unpack(redis.call('HMGET', KEYS[1], 'maxConcurrent', 'reservoir'))
local total = 0
for i = 8, #ARGV do
  local weight = tonumber(redis.call('HGET', KEYS[5], ARGV[i])) or 0
  local client = redis.call('HGET', KEYS[6], ARGV[i])
  total = total + weight
  redis.call('HDEL', KEYS[5], ARGV[i])
  redis.call('HDEL', KEYS[6], ARGV[i])
  redis.call('ZREM', KEYS[7], ARGV[i])
  if client then redis.call('ZINCRBY', KEYS[8], -weight, client) end
end
redis.call('HINCRBY', KEYS[1], 'done', total)
local free = (tonumber(limit) or 0) - redis.call('HINCRBY', KEYS[1], 'running', -total)
if tonumber(reservoir) and tonumber(reservoir) < free then free = tonumber(reservoir) end
return done(string.format('capacity:%.0f', free))
