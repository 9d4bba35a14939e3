-- index_status.lua - lists a status in its author's profile, and counts it.
-- KEYS 1 profile:{uid}  2 user:{uid}
-- ARGV 1 status id  2 the most an account may have
-- Returns 1 | 0 no such account | -1 the limit is reached
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return -1 end
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[1])
redis.call('HINCRBY', KEYS[2], 'posts', 1)
return 1
