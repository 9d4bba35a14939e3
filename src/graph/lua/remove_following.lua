-- remove_following.lua - takes back the follower's side of a follow, if it is that very follow.
-- KEYS 1 following:{a}  2 user:{a}
-- ARGV 1 b  2 follow id
-- Returns 1 | 0 nothing to remove, or a newer follow stands
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not held or tonumber(held) ~= tonumber(ARGV[2]) then return 0 end
redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HINCRBY', KEYS[2], 'following', -1) end
return 1
