-- Shared head of the release scripts: compare, act, wake, leave a receipt.
--
-- KEYS[1] the lock                     ARGV[1] guard: deadline seen, server ms; '' not compared; '-1' had no TTL
-- KEYS[2] the fence counter            ARGV[2] guard: its value seen; '' not compared
-- KEYS[3] the list that wakes waiters  ARGV[3] wake: '' | PUBLISH | SPUBLISH | BOTH | LPUSH | RESET
-- KEYS[4] the receipt                  ARGV[4] the channel (unused for lists)
-- KEYS[5] and on: see each script      ARGV[5] the message or element
--   (a key that is not used stands     ARGV[6] life of the list, ms; '' for none
--    there as the lock's own name)     ARGV[7] life of the receipt, ms; '' for none
--                                      ARGV[8] and on: see each script
-- Answer: { 1 done | 0 changed | -1 gone, what is there now, receivers told (-1 could not, -2 nobody to tell), error text }

-- A holder's id that names no single acquisition (a constant, a thread) is
-- compared together with the fence, or the deadline: a later acquisition has a
-- later one. A second is left for clocks and for a renewal under way.
local function guard_fails()
  if ARGV[2] ~= '' and redis.call('GET', KEYS[2]) ~= ARGV[2] then return true end
  if ARGV[1] == '' then return false end
  local left = redis.call('PTTL', KEYS[1])
  if ARGV[1] == '-1' then return left >= 0 end
  if left < 0 then return left == -1 end
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000) + left > tonumber(ARGV[1]) + 1000
end

-- The lock is gone by now, so a wake-up that is not permitted must not turn
-- the answer into an error: pcall, and both facts are reported.
local function wake(message)
  local verb, told = ARGV[3], 0
  if verb == '' then return -2, '' end
  if verb == 'LPUSH' or verb == 'RESET' then
    if verb == 'RESET' then redis.pcall('DEL', KEYS[3]) end
    local n = redis.pcall('LPUSH', KEYS[3], message)
    if type(n) == 'table' and n.err then return -1, n.err end
    if ARGV[6] ~= '' then redis.pcall('PEXPIRE', KEYS[3], ARGV[6]) end
    return n, ''
  end
  for _, v in ipairs(verb == 'BOTH' and { 'PUBLISH', 'SPUBLISH' } or { verb }) do
    local n = redis.pcall(v, ARGV[4], message)
    if type(n) == 'table' and n.err then
      if verb ~= 'BOTH' or v == 'PUBLISH' then return -1, n.err end
    else
      told = told + n
    end
  end
  return told, ''
end

-- The receipt is written after the change: it proves what happened when the
-- answer is lost on its way. The same call sent again finds it and acts no more.
local function receipt()
  if ARGV[7] == '' then return nil end
  local r = redis.pcall('GET', KEYS[4])
  if type(r) == 'string' then return { 1, '', tonumber(r), '' } end
  return nil
end

local function done(message)
  local told, err = wake(message or ARGV[5])
  if ARGV[7] ~= '' then redis.pcall('SET', KEYS[4], told, 'PX', ARGV[7]) end
  return { 1, '', told, err }
end

