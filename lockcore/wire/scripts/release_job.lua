-- Jobs that a Bottleneck limiter counts as running: take them off, as its own
-- scripts do with jobs whose time is over, and tell the clients what is free.
-- KEYS[1] the settings   KEYS[5] the jobs' weights (hash)   KEYS[6] their clients (hash)
-- KEYS[7] their deadlines (sorted set)   KEYS[8] what each client runs (sorted set)   ARGV[8] and on: the jobs
local past = receipt()
if past then return past end
local there, total = 0, 0
for i = 8, #ARGV do there = there + redis.call('HEXISTS', KEYS[5], ARGV[i]) end
if there == 0 then return { -1, '', -2, '' } end
if there < #ARGV - 7 or guard_fails() then return { 0, '', -2, '' } end
for i = 8, #ARGV do
  local weight, client = redis.call('HGET', KEYS[5], ARGV[i]), redis.call('HGET', KEYS[6], ARGV[i])
  total = total + (tonumber(weight) or 0)
  redis.call('HDEL', KEYS[5], ARGV[i])
  redis.call('HDEL', KEYS[6], ARGV[i])
  redis.call('ZREM', KEYS[7], ARGV[i])
  if client then redis.call('ZINCRBY', KEYS[8], -(tonumber(weight) or 0), client) end
end
redis.call('HINCRBY', KEYS[1], 'done', total)
local running = redis.call('HINCRBY', KEYS[1], 'running', -total)
local free = (tonumber(redis.call('HGET', KEYS[1], 'maxConcurrent')) or 0) - running
local reservoir = tonumber(redis.call('HGET', KEYS[1], 'reservoir'))
if reservoir and reservoir < free then free = reservoir end
return done('capacity:' .. free)
