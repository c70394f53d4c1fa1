-- Shared head of the scripts that grant the lock.
--
-- KEYS[1] the lock          ARGV[1] token: names this one acquisition
-- KEYS[2] the counter       ARGV[2] TTL, ms
-- KEYS[3] the token's       ARGV[3] about the holder, for people
--         tombstone         ARGV[4] floor: the number given must be larger; nil or '' none
--                           ARGV[5] life of the counter, ms; nil or '' for ever
--                           ARGV[6] 'clock': the number is also at least the server's time in us

-- Fencing numbers stay strings: a Lua number is a double, exact to 2^53 only,
-- and "9" > "10" bytewise. So: the shorter is the smaller, then the bytes.
local function less(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

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

-- Grants the lock to the token. INCR stands before SET: Redis does not roll a
-- script back, so what may fail comes while there is no lock yet. GET after
-- INCR: the reply of INCR would be a Lua number.
-- guard: the key of a guard to enter in the same step, or nil.
local function grant(guard)
  local time = redis.call('TIME')
  local floor = ARGV[4] or ''
  if ARGV[6] == 'clock' then -- goes on growing where the counter was lost
    local micros = time[1] .. string.format('%06d', time[2])
    if less(floor, micros) then floor = micros end
  end
  if floor ~= '' and less(redis.call('GET', KEYS[2]) or '0', floor) then
    redis.call('SET', KEYS[2], floor)
  end
  redis.call('INCR', KEYS[2])
  local fence = redis.call('GET', KEYS[2])
  if ARGV[5] and ARGV[5] ~= '' then redis.call('PEXPIRE', KEYS[2], ARGV[5]) end
  if guard then
    local seen = redis.call('GET', guard)
    if seen then
      local highest = string.match(seen, '^(%d+):')
      if not highest then return redis.error_reply('CORRUPT the guard does not hold number:token') end
      if not less(highest, fence) then return { -2, highest } end
    end
    redis.call('SET', guard, fence .. ':' .. ARGV[1])
  end
  redis.call('SET', KEYS[1],
    ARGV[1] .. ':' .. fence .. ':since=' .. utc(time) .. ' ' .. ARGV[3], 'PX', ARGV[2], 'NX')
  return fence
end

-- The number of a lock that this token holds already, or nil: an earlier try
-- was granted and its answer was lost. It is not granted twice.
local function held_by_me(holder)
  local mine = ARGV[1] .. ':'
  if string.sub(holder, 1, #mine) ~= mine then return nil end
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return string.match(holder, '^%d+', #mine + 1)
end
