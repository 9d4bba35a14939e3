-- add_following.lua - writes the follower's side of a follow: the commit.
-- KEYS 1 following:{a}  2 user:{a}
-- ARGV 1 b  2 follow id  3 the most accounts to follow
-- Returns the id of the follow | -1 no account a | -2 the limit is reached
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if held then return string.format('%.0f', held) end
if redis.call('EXISTS', KEYS[2]) == 0 then return '-1' end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return '-2' end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('HINCRBY', KEYS[2], 'following', 1)
redis.call('HINCRBY', KEYS[2], 'edges', 1)
return ARGV[2]
