-- login_periods.lua - reads and writes the periods in which accounts had a login, the field LOGIN@: id:from:to:version, the oldest first, 32 at most.
-- `to` is 0 while the account has the login; `version` is that of the account's change that began or ended the period.
-- KEYS 1 users:{shard}
-- ARGV of the script that follows
-- Returns nothing: it begins other scripts
local function read_periods(login)
  local periods = {}
  for id, from, to, version in string.gmatch(redis.call('HGET', KEYS[1], login .. '@') or '', '(%d+):(%d+):(%d+):(%d+)') do
    periods[#periods + 1] = {id = id, from = from, to = to, version = version}
  end
  return periods
end
-- Removes the claim of the account `unclaimed` as well, if it is not nil.
local function write_periods(login, periods, unclaimed)
  local is_claimed = unclaimed and redis.call('HGET', KEYS[1], login) == unclaimed
  if #periods == 0 then
    if is_claimed then return redis.call('HDEL', KEYS[1], login .. '@', login) end
    return redis.call('HDEL', KEYS[1], login .. '@')
  end
  local texts = {}
  for n = math.max(1, #periods - 31), #periods do
    local it = periods[n]
    texts[#texts + 1] = it.id .. ':' .. it.from .. ':' .. it.to .. ':' .. it.version
  end
  redis.call('HSET', KEYS[1], login .. '@', table.concat(texts, ' '))
  if is_claimed then redis.call('HDEL', KEYS[1], login) end
end
