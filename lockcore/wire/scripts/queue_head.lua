-- Shared part of the scripts of the fair queue.
--
-- queue: a sorted set, token -> its place. alive: a hash, token -> "<deadline, server ms>:<about the waiter>".
-- A waiter promises to come back before its deadline. Whoever is told "you are
-- next" gets a short one, the window; who misses it is dropped, so that a dead
-- waiter delays the others by no more than a window.

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function whole(n) return string.format('%.0f', n) end -- tostring(1e14) is "1e+14"

local function leave(queue, alive, token)
  redis.call('HDEL', alive, token)
  return redis.call('ZREM', queue, token)
end

-- The first waiter that is still expected, and its deadline.
local function first(queue, alive, now)
  while true do
    local token = redis.call('ZRANGE', queue, 0, 0)[1]
    if not token then return nil end
    local deadline = tonumber(string.match(redis.call('HGET', alive, token) or '', '^(%d+):'))
    if deadline and deadline > now then return token, deadline end
    leave(queue, alive, token)
  end
end

-- Tells the first waiter that the lock is free for it, once. Everybody hears
-- it, and knows whom to watch. Returns its token and deadline, and how many heard.
local function call_next(queue, alive, now, window, channel)
  local token, deadline = first(queue, alive, now)
  if not token or deadline <= now + window then return token, deadline, 0 end
  deadline = now + window
  local about = string.match(redis.call('HGET', alive, token), ':.*$')
  redis.call('HSET', alive, token, whole(deadline) .. about)
  local told = redis.pcall('PUBLISH', channel, 'next:' .. token)
  return token, deadline, type(told) == 'number' and told or -1
end

-- Gives ARGV[1] a place in the queue, or keeps the one it has, and notes that it
-- lives for so long. Returns how many are before it.
local function stay(queue, alive, now, life)
  if not redis.call('ZSCORE', queue, ARGV[1]) then
    local last = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2] or '0'
    redis.call('ZADD', queue, tonumber(last) + 1, ARGV[1])
  end
  redis.call('HSET', alive, ARGV[1], whole(now + life) .. ':' .. ARGV[3])
  for _, key in ipairs({ queue, alive }) do
    if redis.call('PTTL', key) < life then redis.call('PEXPIRE', key, whole(life)) end
  end
  return redis.call('ZRANK', queue, ARGV[1])
end
