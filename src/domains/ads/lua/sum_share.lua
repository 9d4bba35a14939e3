-- sum_share.lua - reads the money and the counts of a share, and the sums that they must equal, in one step.
-- KEYS 1 share:{C.n}  2 offered:{C.n}  3 holds:{C.n}  4… tally:{C.n}:DAY of each day
-- ARGV 1 maximum number of holds to sum; with more holds `held` is assumed to be right
-- Returns the share's g r spent held i c x; sums over its ads of spend, impressions, clicks; the sum of its holds; sums over its days of
--   impressions, clicks, invalid clicks, spend; the sum over its ads of invalid clicks; its invalid impressions, their sums over its ads and its
--   days; its invalid clicks with a reason, and their sum over its ads
local reply = {}
local function put(number) reply[#reply + 1] = string.format('%.0f', number or 0) end
for _, value in ipairs({'g', 'r', 'spent', 'held', 'i', 'c', 'x'}) do reply[#reply + 1] = redis.call('HGET', KEYS[1], value) or '0' end
local sums = {s = 0, i = 0, c = 0, x = 0, y = 0}
local reasons = 0
local fields = redis.call('HGETALL', KEYS[2])
for at = 1, #fields, 2 do
  local kind = string.match(fields[at], ':(%l)$')
  if sums[kind] then sums[kind] = sums[kind] + (tonumber(fields[at + 1]) or 0) end
  if string.find(fields[at], ':x-', 1, true) then reasons = reasons + (tonumber(fields[at + 1]) or 0) end
end
put(sums.s)
put(sums.i)
put(sums.c)
local held = 0
if redis.call('ZCARD', KEYS[3]) > tonumber(ARGV[1]) then
  held = redis.call('HGET', KEYS[1], 'held')
else
  for _, hold in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do held = held + (string.match(hold, '%.(%d+)%.%d+$') or 0) end
end
put(held)
local function put_days(field)
  local sum = 0
  for day = 4, #KEYS do sum = sum + (tonumber(redis.call('HGET', KEYS[day], field)) or 0) end
  put(sum)
end
for _, field in ipairs({'i', 'c', 'x', 's'}) do put_days(field) end
put(sums.x)
put(tonumber(redis.call('HGET', KEYS[1], 'y') or 0))
put(sums.y)
put_days('y')
local own = 0
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 2) == 'x-' then own = own + (tonumber(redis.call('HGET', KEYS[1], field)) or 0) end
end
put(own)
put(reasons)
return reply
