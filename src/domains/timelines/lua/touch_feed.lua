-- touch_feed.lua - records that a feed is read. A dropped feed takes pushes from now on.
-- KEYS 1 feed:{id}  2 user:{id}, or list:{id}
-- ARGV 1 now, ms
-- Returns 1 the feed must be rebuilt | 0 the feed is not dropped, or its owner was deleted
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'seen', ARGV[1])
if redis.call('HGET', KEYS[1], 'is') ~= 'dropped' then return 0 end
redis.call('HSET', KEYS[1], 'is', 'opening')
redis.call('HDEL', KEYS[1], 'floor')
return 1
