-- lower_feed.lua - puts what lies below the floor into a feed and lowers the floor to it, if the sources are what they were when it was
-- gathered. A feed that is being opened stands open then.
-- KEYS 1 home:{id}, or timeline:{id}  2 feed:{id}  3 user:{id}, or list:{id}
-- ARGV 1 how often the sources had changed  2 the new floor  3 window  4… status ids
-- Returns 1 | 0 the sources have changed, nobody reads it, or its owner is no more
if redis.call('EXISTS', KEYS[3]) == 0 or (redis.call('HGET', KEYS[3], 'edges') or '0') ~= ARGV[1] then return 0 end
local state = redis.call('HMGET', KEYS[2], 'floor', 'is')
if state[2] == 'dropped' then return 0 end
local entries = {}
for i = 4, #ARGV do
  entries[#entries + 1] = ARGV[i]
  entries[#entries + 1] = ARGV[i]
end
if #entries > 0 then redis.call('ZADD', KEYS[1], unpack(entries)) end
local floor, held = tonumber(ARGV[2]), tonumber(state[1] or 0)
-- What was cut off while it was being opened is missing; what somebody else has gathered beside us is there.
if state[2] then floor = math.max(floor, held) else floor = math.min(floor, held) end
if redis.call('ZCARD', KEYS[1]) > tonumber(ARGV[3]) then
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -tonumber(ARGV[3]) - 1)
  floor = math.max(floor, tonumber(redis.call('ZRANGE', KEYS[1], 0, 0)[1]))
end
-- A segment may end above the floor now, and would lack what is pushed in between.
redis.call('HINCRBY', KEYS[2], 'late', 1)
if floor > 0 then
  redis.call('HSET', KEYS[2], 'floor', string.format('%.0f', floor))
  redis.call('HDEL', KEYS[2], 'is')
else
  redis.call('HDEL', KEYS[2], 'floor', 'is')
end
return 1
