-- sweep_feed.lua - takes an author's statuses out of a feed, unless the author is one of its sources (again).
-- KEYS 1 home:{id}, or timeline:{id}  2 following:{id}, or members:{id}  3 marked:{id}
-- ARGV 1 author  2… status ids
-- Returns 1 | 0 still a source, nothing was taken out
if redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 0 end
redis.call('ZREM', KEYS[3], ARGV[1])
if #ARGV > 1 then redis.call('ZREM', KEYS[1], unpack(ARGV, 2)) end
return 1
