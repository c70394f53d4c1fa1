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
