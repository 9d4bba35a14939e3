-- touch_feed.lua - somebody reads a feed. One that was dropped takes what is pushed from now on.
-- KEYS 1 feed:{id}  2 user:{id}, or list:{id}
-- ARGV 1 now, ms
-- Returns 1 it must be filled up | 0, also where its owner is no more
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'seen', ARGV[1])
if redis.call('HGET', KEYS[1], 'is') ~= 'dropped' then return 0 end
redis.call('HSET', KEYS[1], 'is', 'opening')
redis.call('HDEL', KEYS[1], 'floor')
return 1
