-- The resource's own check: refuse a number below the highest seen, or an equal
-- one that another token brings. Then the body of the script acts, in the same step.
-- KEYS[1] the highest number seen, as "number:token"
-- ARGV[1] fencing number  ARGV[2] token  ARGV[3] life of KEYS[1], ms; '' for ever
-- Answer: {0, seen} older than seen | {-1, seen} the same number from another token: two servers gave it
local function less(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end
local mine, seen = ARGV[1] .. ':' .. ARGV[2], redis.call('GET', KEYS[1])
if seen and seen ~= mine then
  local highest = string.match(seen, '^(%d+):')
  if not highest then return redis.error_reply('CORRUPT the guard does not hold number:token') end
  if less(ARGV[1], highest) then return { 0, highest } end
  if ARGV[1] == highest then return { -1, highest } end
end
if seen ~= mine then redis.call('SET', KEYS[1], mine) end
if ARGV[3] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
