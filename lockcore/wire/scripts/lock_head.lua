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

local function wanted(arg) return arg and arg ~= '' end

-- The time of the grant by the server's clock, as people write it. Days are
-- counted from 1 March of year 0, so that the leap day ends its year.
local function utc(time)
  local seconds = tonumber(time[1])
  local day = math.floor(seconds / 86400) + 719468
  local era = math.floor(day / 146097)
  local doe = day % 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local m = math.floor((5 * doy + 2) / 153)
  local year = yoe + era * 400
  if m >= 10 then year = year + 1 end
  local s = seconds % 86400
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, (m + 2) % 12 + 1,
    doy - math.floor((153 * m + 2) / 5) + 1, math.floor(s / 3600), math.floor(s / 60) % 60, s % 60,
    math.floor(time[2] / 1000))
end

-- The counter never goes down. A floor repairs a counter that was lost; the
-- clock does the same unasked.
local function raise(floor)
  if less(redis.call('GET', KEYS[2]) or '0', floor) then redis.call('SET', KEYS[2], floor) end
end

-- Grants the lock to the token. INCR stands before SET: Redis does not roll a
-- script back, so what may fail comes while there is no lock yet. GET after
-- INCR: the reply of INCR would be a Lua number.
-- guard: the key of a guard to enter in the same step, or nil.
local function grant(guard)
  local time = redis.call('TIME')
  if wanted(ARGV[4]) then raise(ARGV[4]) end
  if ARGV[6] == 'clock' then raise(time[1] .. string.format('%06d', time[2])) end
  redis.call('INCR', KEYS[2])
  local fence = redis.call('GET', KEYS[2])
  if wanted(ARGV[5]) then redis.call('PEXPIRE', KEYS[2], ARGV[5]) end
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
