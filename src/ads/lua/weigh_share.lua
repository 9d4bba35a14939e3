-- weigh_share.lua - reads what a share says of its money and its counts, and what they come to, at one moment.
-- KEYS 1 share:{C.n}  2 offered:{C.n}  3 holds:{C.n}  4… tally:{C.n}:DAY of every day there was
-- ARGV 1 of how many holds at most it is asked what they come to: of more, that is taken to be right
-- Returns the share's g r spent held i c x; sums over its ads of spend, impressions, clicks; what is held; sums over its days of impressions, clicks,
--   invalid clicks, spend; the sum over its ads of invalid clicks
local answer = {}
local function put(number) answer[#answer + 1] = string.format('%.0f', number or 0) end
for _, value in ipairs({'g', 'r', 'spent', 'held', 'i', 'c', 'x'}) do answer[#answer + 1] = redis.call('HGET', KEYS[1], value) or '0' end
local sums = {s = 0, i = 0, c = 0, x = 0}
local fields = redis.call('HGETALL', KEYS[2])
for at = 1, #fields, 2 do
  local kind = string.match(fields[at], ':(%l)$')
  if sums[kind] then sums[kind] = sums[kind] + (tonumber(fields[at + 1]) or 0) end
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
for _, field in ipairs({'i', 'c', 'x', 's'}) do
  local sum = 0
  for day = 4, #KEYS do sum = sum + (tonumber(redis.call('HGET', KEYS[day], field)) or 0) end
  put(sum)
end
put(sums.x)
return answer
