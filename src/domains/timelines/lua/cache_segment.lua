-- cache_segment.lua - caches a segment of the merge of a feed's sources, if they have not changed since the merge. When there are too many
-- segments, all others are dropped.
-- KEYS 1 segments:{id}  2 feed:{id}  3 user:{id}, or list:{id}
-- ARGV 1 version of the sources (edges)  2 number of changes below the floor (late)  3 upper bound of the segment
--      4 maximum number of segments  5 time to live, ms  6 the segment's field  7 its status ids, packed  8… fields to drop
-- Returns 1 | 0 the sources or the entries below the floor have changed, the floor is below the segment's upper bound, the feed is dropped or being
--   rebuilt, or the owner was deleted
if redis.call('EXISTS', KEYS[3]) == 0 or (redis.call('HGET', KEYS[3], 'edges') or '0') ~= ARGV[1] then return 0 end
local state = redis.call('HMGET', KEYS[2], 'floor', 'is', 'late')
-- A status that is pushed above the floor does not count as late.
if state[2] or tonumber(state[1] or 0) < tonumber(ARGV[3]) or (state[3] or '0') ~= ARGV[2] then return 0 end
if #ARGV > 7 then redis.call('HDEL', KEYS[1], unpack(ARGV, 8)) end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then redis.call('UNLINK', KEYS[1]) end
redis.call('HSET', KEYS[1], ARGV[6], ARGV[7])
-- The time to live starts with the first segment: segments that an older version of the program did not invalidate expire with it.
redis.call('PEXPIRE', KEYS[1], ARGV[5], 'NX')
return 1
