-- Shared head of the scripts that grant the lock.
--
-- KEYS[1] the lock     KEYS[2] the counter     KEYS[3] the token's tombstone
-- ARGV[1] token: names this one acquisition    ARGV[2] TTL, ms    ARGV[3] about the holder, for people

-- The time of the grant by the server's clock, as people write it. Days are
-- counted from 1 March of year 0, so that the leap day ends its year; n - n % d
-- is the whole part of a division, at no call.
local function utc(time)
  local s = tonumber(time[1])
  local clock = s % 86400
  local day = (s - clock) / 86400 + 719468
  local doe = day % 146097 -- the day of its era of 400 years
  local n = doe - (doe - doe % 1460) / 1460 + (doe - doe % 36524) / 36524 - (doe - doe % 146096) / 146096
  local yoe = (n - n % 365) / 365
  local doy = doe - 365 * yoe - (yoe - yoe % 4) / 4 + (yoe - yoe % 100) / 100
  local m = 5 * doy + 2
  local month = (m - m % 153) / 153 -- from March, 0 to 11
  local year = yoe + (day - doe) / 146097 * 400
  if month >= 10 then year = year + 1 end
  local first = 153 * month + 2
  local minute = clock % 3600
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ',
    year, (month + 2) % 12 + 1, doy - (first - first % 5) / 5 + 1,
    clock / 3600, minute / 60, minute % 60, time[2] / 1000)
end

-- Gives the lock, which is free, to the token, with a number that was drawn before.
local function give(fence, time)
  redis.call('SET', KEYS[1],
    ARGV[1] .. ':' .. fence .. ':since=' .. utc(time) .. ' ' .. ARGV[3], 'PX', ARGV[2], 'NX')
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
