-- add_list.lua - adds a list to its owner's set: the commit.
-- KEYS 1 lists:{uid}  2 user:{uid}  3 dropped:{uid}
-- ARGV 1 list id  2 the most lists of an account
-- Returns 1 | 0 no such account | -1 the limit is reached | -2 it was deleted
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end
if redis.call('ZSCORE', KEYS[3], ARGV[1]) then return -2 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return -1 end
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[1])
return 1
