-- A job of a Bottleneck limiter: let its time end now, as the library's own
-- script to free jobs does; whoever asks the limiter next takes its weight off.
-- KEYS[1] the settings (for the guard)   KEYS[5] the jobs' weights (hash)   KEYS[6] their deadlines (sorted set)
-- ARGV[8] and on: the jobs
local past = receipt()
if past then return past end
local there = 0
for i = 8, #ARGV do there = there + redis.call('HEXISTS', KEYS[5], ARGV[i]) end
if there == 0 then return { -1, '', -2, '' } end
if there < #ARGV - 7 or guard_fails() then return { 0, '', -2, '' } end
for i = 8, #ARGV do redis.call('ZADD', KEYS[6], 0, ARGV[i]) end
return done()
