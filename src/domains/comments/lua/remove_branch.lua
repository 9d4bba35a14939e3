-- remove_branch.lua - takes a comment away with all below it: from here on nobody comes to any of it. What is below is cleared away later.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 how long it is known that it was there, ms  8 of how many that is known  9 who asks  10 id of the removal
-- Returns how many living comments went | 0 there is no such comment | -1 it is not theirs to take
local is = redis.call('HMGET', KEYS[12], 'id', 'uid', 'places', 'descendants', 'others')
if not is[1] or not stands() then return 0 end
if redis.call('HGET', KEYS[1], 'uid') ~= ARGV[9] then
  if not is[2] then return 0 end
  if is[2] ~= ARGV[9] or tonumber(is[5] or 0) > 0 then return -1 end
end
local below = tonumber(is[4] or 0)
if is[2] then
  count(-1, is[2])
  count_reply(-1)
end
-- Whose the others are is seen when they are cleared away: until then they count among `others` above.
if below > 0 then
  redis.call('HINCRBY', KEYS[1], 'comments', -below)
  for at = ABOVE + 1, #KEYS do redis.call('HINCRBY', KEYS[at], 'descendants', -below) end
end
local removed = below + (is[2] and 1 or 0)
append('d', removed)
redis.call('ZREM', KEYS[5], ARGV[3])
if tonumber(is[3] or 0) > 0 then redis.call('ZADD', KEYS[11], ARGV[10], ARGV[3]) end
leave()
return removed
