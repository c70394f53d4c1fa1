-- Shared head of the scripts that act on somebody's lock: compare, act, wake,
-- leave a receipt.
--
-- KEYS[1] the lock                     ARGV[1] guard: deadline seen, server ms; '' not compared; '-1' had no TTL
-- KEYS[2] the fence counter            ARGV[2] guard: its value seen; '' not compared
-- KEYS[3] the list that wakes waiters  ARGV[3] wake: '' | PUBLISH | SPUBLISH | BOTH | LPUSH | RESET
-- KEYS[4] the receipt                  ARGV[4] the channel (unused for lists)
-- KEYS[5] and on: see each script      ARGV[5] the message or element
--   (a key that is not used stands     ARGV[6] life of the list, ms; '' for none
--    there as the lock's own name)     ARGV[7] life of the receipt, ms; '' for none
--                                      ARGV[8] and on: see each script
-- By the same comparison, something else can be done in place of the release:
-- ARGV[3] TTL    the lock shall expire in ARGV[6] ms
-- ARGV[3] HOLD   ARGV[4] has the lock from now on, for ARGV[6] ms; KEYS[3] says so to people, with ARGV[5]
--
-- Answer: { status, text, receivers told (-1 could not, -2 nobody to tell), why }
--   1 done
--   0 changed: text is what is there now, why: holder | others | type | fence | deadline
--  -1 gone
--   2 half: changed, and then the server refused the rest; why is its error
--   3 called off: the operator's program has given this call up, nothing was done

-- A holder's id that names no single acquisition (a constant, a thread) is
-- compared together with the fence, or the deadline: a later acquisition has a
-- later one. A second is left for clocks and for a renewal under way.
local function guard_fails()
  if ARGV[2] ~= '' and redis.call('GET', KEYS[2]) ~= ARGV[2] then return 'fence' end
  if ARGV[1] == '' then return false end
  local left = redis.call('PTTL', KEYS[1])
  if ARGV[1] == '-1' then return left >= 0 and 'deadline' end
  if left < 0 then return left == -1 and 'deadline' end
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000) + left > tonumber(ARGV[1]) + 1000 and 'deadline'
end

local function gone() return { -1, '', -2, '' } end
local function changed(now, why) return { 0, now or '', -2, why or 'holder' } end

-- A read for the comparison. A key of another type is somebody else's lock, not
-- an error: then the second value is true.
local function look(...)
  local r = redis.pcall(...)
  if type(r) ~= 'table' or not r.err then return r, false end
  if string.find(r.err, 'WRONGTYPE', 1, true) then return false, true end
  return redis.call(...), false -- fails again, and is told as it is
end

-- Redis does not take back what a script has done when it fails further on. So
-- what this user may not do has to show before the first change, where the
-- server can tell (since 7.0). Each argument is a command; nil: all may run.
local function forbidden(...)
  if not redis.acl_check_cmd then return nil end
  for _, cmd in ipairs({ ... }) do
    local known, may = pcall(redis.acl_check_cmd, unpack(cmd))
    if not known then return redis.error_reply('ERR unknown command ' .. cmd[1] .. ', nothing was changed') end
    if not may then return redis.error_reply('NOPERM this user may not run ' .. cmd[1] .. ' here, nothing was changed') end
  end
  return nil
end

-- The lock is gone by now, so a wake-up that is not permitted must not turn
-- the answer into an error: pcall, and both facts are reported.
local function wake(message)
  local verb, told = ARGV[3], 0
  if verb == '' or verb == 'TTL' or verb == 'HOLD' then return -2, '' end
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
-- answer is lost on its way. The same call sent again finds it and acts no more;
-- so does one that comes late, after its sender put 'off' in the receipt's place.
local function receipt()
  if ARGV[7] == '' then return nil end
  local r = redis.pcall('GET', KEYS[4])
  if r == 'off' then return { 3, '', -2, '' } end
  if type(r) == 'string' then return { 1, '', tonumber(r), '' } end
  return nil
end

local function done(message)
  local told, err = wake(message or ARGV[5])
  if ARGV[7] ~= '' then redis.pcall('SET', KEYS[4], told, 'PX', ARGV[7]) end
  return { 1, '', told, err }
end

-- Something after the first change was refused: say so, and prove that much.
local function half(err)
  if ARGV[7] ~= '' then redis.pcall('SET', KEYS[4], -2, 'PX', ARGV[7]) end
  return { 2, '', -2, err }
end

-- What is done in place of the release, now that all is as it was seen; nil for
-- a release. keep does the TTL, swap the hold.
local function instead(keep, swap)
  if ARGV[3] == 'TTL' then
    keep(ARGV[6])
    return done()
  elseif ARGV[3] == 'HOLD' then
    local no = forbidden({ 'SET', KEYS[3], '', 'PX', ARGV[6] })
    if no then return no end
    swap(ARGV[4], ARGV[6])
    redis.call('SET', KEYS[3], ARGV[5], 'PX', ARGV[6])
    return done()
  end
  return nil
end

