-- count_volume.lua - counts clicks or impressions of a website and updates their hourly means.
-- KEYS 1 website:{W}
-- ARGV 1 the hour, in hours since 1970  2 i for impressions, c for clicks  3 how many  4 number of hours over which the mean is taken
-- Returns 1 | 0 no such website
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local kept = redis.call('HMGET', KEYS[1], 'hour', 'i', 'c', 'mi', 'mc')
local hour = tonumber(kept[1])
if not hour or hour < tonumber(ARGV[1]) then
  local rest = 1 - 1 / ARGV[4]
  local changes = { 'hour', ARGV[1] }
  for at, field in ipairs({ 'i', 'c' }) do
    local count, mean = tonumber(kept[at + 1] or 0), tonumber(kept[at + 3] or 0)
    -- The hours in between had no traffic.
    if hour then mean = (mean * rest + count / ARGV[4]) * rest ^ (ARGV[1] - hour - 1) end
    for _, value in ipairs({ field, '0', 'm' .. field, string.format('%.3f', mean) }) do changes[#changes + 1] = value end
  end
  redis.call('HSET', KEYS[1], unpack(changes))
end
redis.call('HINCRBY', KEYS[1], ARGV[2], ARGV[3])
return 1
