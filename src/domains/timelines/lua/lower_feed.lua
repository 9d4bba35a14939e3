-- lower_feed.lua - adds entries below the floor to a feed and lowers the floor, if the sources have not changed since the entries were
-- read. This completes the rebuilding of a feed.
-- KEYS 1 home:{id}, or timeline:{id}  2 feed:{id}  3 user:{id}, or list:{id}
-- ARGV 1 version of the sources (edges)  2 the new floor  3 window  4 '1' if the reposts of the sources were read
--      5… pairs: position, entry
-- Returns 1 | 0 the sources have changed, or there are reposts that were not read, the feed is dropped, or its owner was deleted
if redis.call('EXISTS', KEYS[3]) == 0 or (redis.call('HGET', KEYS[3], 'edges') or '0') ~= ARGV[1] then return 0 end
local state = redis.call('HMGET', KEYS[2], 'floor', 'is', 'reposts')
-- A source with reposts may have been added after the state of the feed was read and before its sources were read.
if state[3] and ARGV[4] == '0' then return 0 end
if state[2] == 'dropped' then return 0 end
local entries = {}
for i = 5, #ARGV do entries[#entries + 1] = ARGV[i] end
-- A repost that was undone and made again has the later id, regardless of the order of the two pushes.
if #entries > 0 then redis.call('ZADD', KEYS[1], 'GT', unpack(entries)) end
local floor, held = tonumber(ARGV[2]), tonumber(state[1] or 0)
-- During a rebuild, pushes may have cut off entries below the stored floor. Otherwise another pass may have added entries down to a lower floor.
if state[2] then floor = math.max(floor, held) else floor = math.min(floor, held) end
if redis.call('ZCARD', KEYS[1]) > tonumber(ARGV[3]) then
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -tonumber(ARGV[3]) - 1)
  floor = math.max(floor, tonumber(redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]))
end
-- The upper bound of a cached segment may be above the new floor: the segment would lack statuses that are pushed between the two positions.
redis.call('HINCRBY', KEYS[2], 'late', 1)
if floor > 0 then
  redis.call('HSET', KEYS[2], 'floor', string.format('%.0f', floor))
  redis.call('HDEL', KEYS[2], 'is')
else
  redis.call('HDEL', KEYS[2], 'floor', 'is')
end
return 1
