-- sweep_feed.lua - removes statuses and reposts of an account, and its mark, from a feed, unless the account is one of the feed's sources.
-- KEYS 1 home:{id}, or timeline:{id}  2 following:{id}, or members:{id}  3 marked:{id}
-- ARGV 1 account  2… entries: a status, or status:reposter
-- Returns 1 | 0 the account is a source, nothing was removed
if redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 0 end
redis.call('ZREM', KEYS[3], ARGV[1])
if #ARGV > 1 then redis.call('ZREM', KEYS[1], unpack(ARGV, 2)) end
return 1
