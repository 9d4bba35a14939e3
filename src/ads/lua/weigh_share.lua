-- weigh_share.lua - reads what a share says of its money and its counts, and what they come to, at one moment.
-- KEYS 1 share:{C.n}  2 offered:{C.n}  3 holds:{C.n}  4… tally:{C.n}:DAY of every day there was
-- ARGV 1 when what is held should long be back, ms
-- Returns the share's g r spent held i c x; sums over its ads of spend, impressions, clicks; sum and number of what is held too long; what is held; sums
--   over its days of impressions, clicks, invalid clicks, spend
local answer = {}
local function put(number) answer[#answer + 1] = string.format('%.0f', number or 0) end
for _, value in ipairs({'g', 'r', 'spent', 'held', 'i', 'c', 'x'}) do put(redis.call('HGET', KEYS[1], value) or 0) end
local sums = {s = 0, i = 0, c = 0}
local fields = redis.call('HGETALL', KEYS[2])
for at = 1, #fields, 2 do
  local kind = string.match(fields[at], ':(%l)$')
  if sums[kind] then sums[kind] = sums[kind] + (tonumber(fields[at + 1]) or 0) end
end
put(sums.s)
put(sums.i)
put(sums.c)
local held, late, many = 0, 0, 0
local holds = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
for at = 1, #holds, 2 do
  local price = tonumber(string.match(holds[at], '%.(%d+)%.%d+$') or 0)
  held = held + price
  if tonumber(holds[at + 1]) <= tonumber(ARGV[1]) then late, many = late + price, many + 1 end
end
put(late)
put(many)
put(held)
for _, field in ipairs({'i', 'c', 'x', 's'}) do
  local sum = 0
  for day = 4, #KEYS do sum = sum + (tonumber(redis.call('HGET', KEYS[day], field)) or 0) end
  put(sum)
end
return answer
