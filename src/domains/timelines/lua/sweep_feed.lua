-- sweep_feed.lua - removes statuses and reposts of an account from a feed, unless the author is one of its sources.
-- KEYS 1 home:{id}, or timeline:{id}  2 following:{id}, or members:{id}  3 marked:{id}
-- ARGV 1 account  2… entries: a status, or status:reposter
-- Returns 1 | 0 a source, nothing was removed
if redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 0 end
redis.call('ZREM', KEYS[3], ARGV[1])
if #ARGV > 1 then redis.call('ZREM', KEYS[1], unpack(ARGV, 2)) end
return 1
