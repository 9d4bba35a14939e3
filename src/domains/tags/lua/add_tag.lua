-- add_tag.lua - adds a tag to a set of tags, and counts this as a change of the sources of the set's timeline.
-- KEYS 1 followed_tags:{id}, or list_tags:{id}  2 user:{id}, or list:{id}
-- ARGV 1 name  2 id of the addition  3 the most tags
-- Returns 1 in the set, since now or before | 0 there is no such owner | -1 the limit is reached
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return -1 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('HINCRBY', KEYS[2], 'edges', 1)
return 1
