-- grant_budget.lua - grants a share of a campaign some of the money that no share holds, as far as budget, daily budget and pacing allow. It first
-- records the money that shares have returned. Shares report what they returned in total, and the pool what it granted in total: nothing counts twice.
-- Prelude: sums.lua (`text`, `plus`, `minus`). Fields of the campaign: keys.rs, `campaign`.
-- KEYS 1 campaign:{C}  2 frozen:{C}
-- ARGV 1 now, ms  2 the day  3 the share  4 total granted to it, as far as it has recorded  5 the least amount that it needs
--      6 unit of a grant; a grant larger than the least amount is a multiple of it
--      then for each share that returned money: share, total returned, day, returned of that day
-- Returns granted TOTAL BEFORE DAY: BEFORE is the part granted on days before DAY | refused LEFT DAY: LEFT could be granted, 0 while the campaign
--      is frozen | gone
local n, day = ARGV[3], tonumber(ARGV[2])
local campaign = redis.call('HMGET', KEYS[1], 'id', 'budget', 'daily', 'pacing', 'from', 'ends', 'shares', 'out', 'day', 'today')
if not campaign[1] then return 'gone' end
local out, today, shares = tonumber(campaign[8] or 0), tonumber(campaign[10] or 0), tonumber(campaign[7])

if campaign[9] and tonumber(campaign[9]) >= day then
  day = tonumber(campaign[9])
else
  today = 0
  local granted, returned = {}, {}
  for share = 0, shares - 1 do
    granted[#granted + 1] = 'b' .. share
    granted[#granted + 1] = redis.call('HGET', KEYS[1], 'g' .. share) or '0'
    returned[#returned + 1] = 'q' .. share
  end
  redis.call('HSET', KEYS[1], 'day', text(day), 'today', '0', unpack(granted))
  redis.call('HDEL', KEYS[1], unpack(returned))
end

for at = 7, #ARGV, 4 do
  local share, back, of_day = ARGV[at], ARGV[at + 1], ARGV[at + 3]
  local booked = redis.call('HMGET', KEYS[1], 'r' .. share, 'q' .. share)
  local more, more_of_day = minus(back, booked[1] or '0'), minus(of_day, booked[2] or '0')
  if more > 0 then
    out = out - more
    redis.call('HSET', KEYS[1], 'r' .. share, back)
  end
  if tonumber(ARGV[at + 2]) == day and more_of_day > 0 then
    today = today - more_of_day
    redis.call('HSET', KEYS[1], 'q' .. share, of_day)
  end
end

-- The part of the daily budget that may be spent by now, exactly as `Campaign::daily_allowance` computes it. No product here exceeds 2^53.
local function allowed()
  if not campaign[3] then return math.huge end
  local daily, DAY = tonumber(campaign[3]), 86400000
  local begins = math.max(day * DAY, tonumber(campaign[5] or 0))
  local length = math.min((day + 1) * DAY, tonumber(campaign[6] or math.huge)) - begins
  if campaign[4] ~= 'EVEN' or length <= 60000 then return daily end
  local over = math.max(0, ARGV[1] - begins) + 60000
  if over >= length then return daily end
  local rest = math.fmod(daily, length)
  local of_rest = rest * over
  return (daily - rest) / length * over + (of_rest - math.fmod(of_rest, length)) / length
end

local granted, before = unpack(redis.call('HMGET', KEYS[1], 'g' .. n, 'b' .. n))
granted, before = granted or '0', before or '0'
local reply
-- A grant that the share has not recorded yet is repeated, and nothing more is granted.
if minus(granted, ARGV[4]) <= 0 then
  local left, want, unit = math.min(campaign[2] - out, allowed() - today), tonumber(ARGV[5]), tonumber(ARGV[6])
  if redis.call('EXISTS', KEYS[2]) == 1 then left = 0 end
  if left < want or want == 0 then
    reply = 'refused ' .. text(math.max(0, left)) .. ' ' .. text(day)
  else
    local part = math.floor(left / (4 * shares))
    local grant = math.max(want, part - math.fmod(part, unit))
    granted, out, today = plus(granted, grant), out + grant, today + grant
    redis.call('HSET', KEYS[1], 'g' .. n, granted)
  end
end
redis.call('HSET', KEYS[1], 'out', text(out), 'today', text(today))
return reply or table.concat({ 'granted', granted, before, text(day) }, ' ')
