-- remove_tag.lua - removes a tag from a set of tags, and counts this as a change of the sources of the set's timeline.
-- KEYS 1 followed_tags:{id}, or list_tags:{id}  2 user:{id}, or list:{id}
-- ARGV 1 name
-- Returns 1 removed | 0 it was not in the set
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HINCRBY', KEYS[2], 'edges', 1) end
return 1
