-- add_owned.lua - adds a campaign or a website to its owner's list.
-- KEYS 1 campaigns:{uid} or websites:{uid}  2 user:{uid}
-- ARGV 1 its id  2 maximum number for an account
-- Returns 1 | 0 no such account | -1 the limit is reached
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return -1 end
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[1])
return 1
