-- add_liked.lua - writes the liker's side of a like, replacing an entry with another id.
-- KEYS 1 liked:{uid}  2 user:{uid}
-- ARGV 1 status id  2 like id  3 the most likes of an account
-- Returns 1 | 0 no such account | -1 the limit is reached
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return -1 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
return 1
