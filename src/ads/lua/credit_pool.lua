-- credit_pool.lua - notes in a campaign's pool what its shares have given back. What a share tells is all of it so far, so that nothing
-- counts twice.
-- KEYS 1 campaign:{C}
-- ARGV share, what it gave back in all, its day, what it gave back of that day, …
-- Returns what the shares hold or have spent now | -1 there is none
local out, day, today = unpack(redis.call('HMGET', KEYS[1], 'out', 'day', 'today'))
if redis.call('HEXISTS', KEYS[1], 'id') == 0 then return '-1' end
out, today = tonumber(out or 0), tonumber(today or 0)
local changes = {}
local function put(field, value)
  changes[#changes + 1] = field
  changes[#changes + 1] = string.format('%.0f', value)
end
for at = 1, #ARGV, 4 do
  local n, back, of_day = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 3])
  local known, known_of_day = unpack(redis.call('HMGET', KEYS[1], 'r' .. n, 'q' .. n))
  known, known_of_day = tonumber(known or 0), tonumber(known_of_day or 0)
  if back > known then
    out = out - (back - known)
    put('r' .. n, back)
  end
  if ARGV[at + 2] == day and of_day > known_of_day then
    today = today - (of_day - known_of_day)
    put('q' .. n, of_day)
  end
end
if #changes > 0 then
  put('out', out)
  put('today', today)
  redis.call('HSET', KEYS[1], unpack(changes))
end
return string.format('%.0f', out)
