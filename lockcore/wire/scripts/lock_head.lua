-- Shared head of the scripts that grant the lock.
--
-- KEYS[1] the lock     KEYS[2] the counter     KEYS[3] the token's tombstone
-- ARGV[1] token: names this one acquisition    ARGV[2] TTL, ms    ARGV[3] about the holder, for people

-- What is wrong with a number that was drawn: somebody set the counter below
-- zero. nil where nothing is.
local function unsound(fence)
  if string.find(fence, '^[1-9]') then return nil end
  return redis.error_reply('CORRUPT the fence counter is not above zero')
end

-- Gives the lock, which is free, to the token, with a number that was drawn
-- before. The moment, by the server's clock, is the last word of the value.
local function give(fence, time)
  local bad = unsound(fence)
  if bad then return bad end
  redis.call('SET', KEYS[1],
    ARGV[1] .. ':' .. fence .. ':' .. ARGV[3] .. ' at=' .. time[1] .. '.' .. string.sub('00000' .. time[2], -6),
    'PX', ARGV[2], 'NX')
  return fence
end

-- The answer to a token that holds the lock already: an earlier try was granted
-- and its answer was lost. It is not granted twice. nil for any other token.
local function again(holder)
  local mine = ARGV[1] .. ':'
  if string.sub(holder, 1, #mine) ~= mine then return nil end
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return string.match(holder, '^%d+', #mine + 1)
end
