-- remove_follower.lua - takes back the other side of a follow, whichever stands there.
-- KEYS 1 followers:{b}  2 user:{b}
-- ARGV 1 a
-- Returns 1 | 0 nothing to remove
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HINCRBY', KEYS[2], 'followers', -1) end
return 1
