-- keep_segment.lua - keeps a part of the merge of a feed's sources, if they are what they were before it was merged. When there are too many
-- parts, all others are dropped.
-- KEYS 1 segments:{id}  2 feed:{id}  3 user:{id}, or list:{id}
-- ARGV 1 how often the sources had changed  2 how often statuses had come late  3 the place that the segment ends below
--      4 the most segments  5 how long they are kept, ms  6 the segment's field  7 its status ids, packed  8… fields to drop
-- Returns 1 | 0 the sources or what is below the floor have changed, or the owner is no more
if redis.call('EXISTS', KEYS[3]) == 0 or (redis.call('HGET', KEYS[3], 'edges') or '0') ~= ARGV[1] then return 0 end
local state = redis.call('HMGET', KEYS[2], 'floor', 'is', 'late')
-- What is pushed above the floor is not counted as late.
if state[2] or tonumber(state[1] or 0) < tonumber(ARGV[3]) or (state[3] or '0') ~= ARGV[2] then return 0 end
if #ARGV > 7 then redis.call('HDEL', KEYS[1], unpack(ARGV, 8)) end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then redis.call('UNLINK', KEYS[1]) end
redis.call('HSET', KEYS[1], ARGV[6], ARGV[7])
-- From the first segment on: one that an older program did not invalidate ends with it.
redis.call('PEXPIRE', KEYS[1], ARGV[5], 'NX')
return 1
