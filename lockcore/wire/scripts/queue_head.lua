-- Shared part of the scripts of the fair queue.
--
-- queue: a sorted set, token -> its place. alive: a hash, token -> "<deadline, server ms>:<about the waiter>".
-- A waiter promises to come back before its deadline. Whoever is called, when
-- the lock is free, gets a short one, the window. Those behind it hear that, and
-- look after it: the first of them after one window, the second after two. So
-- dead waiters delay the living by one window each.

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function whole(n) return string.format('%.0f', n) end -- tostring(1e14) is "1e+14"

local function leave(queue, alive, token)
  redis.call('HDEL', alive, token)
  return redis.call('ZREM', queue, token)
end

-- The first waiter that is still expected, and its deadline; the others are
-- dropped. Where one that was called is late by n windows, n more behind it
-- should have come to look after it, and did not.
local function first(queue, alive, now, window)
  local late = 0
  while true do
    local token = redis.call('ZRANGE', queue, 0, 0)[1]
    if not token then return nil end
    local entry = redis.call('HGET', alive, token) or ''
    local deadline = tonumber(string.match(entry, '^(%d+):'))
    if token == ARGV[1] or deadline and deadline > now and late < 1 then return token, deadline end
    if late >= 1 then
      late = late - 1
    elseif deadline and string.find(entry, ':called=1', 1, true) then
      late = (now - deadline) / window
    end
    leave(queue, alive, token)
  end
end

-- Tells the first waiter that the lock is free for it, once. Everybody hears
-- it, and knows whom to look after. Returns its token and deadline, and how many heard.
local function call_next(queue, alive, now, window, channel)
  local token, deadline = first(queue, alive, now, window)
  if not token then return nil end
  local entry = redis.call('HGET', alive, token) or ''
  if string.find(entry, ':called=1', 1, true) then return token, deadline, 0 end
  deadline = now + window
  redis.call('HSET', alive, token, whole(deadline) .. ':called=1 ' .. (string.match(entry, '^%d+:(.*)$') or ''))
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
