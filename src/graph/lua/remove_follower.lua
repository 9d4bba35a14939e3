-- remove_follower.lua - takes back the other side of a follow, unless a newer one stands there.
-- KEYS 1 followers:{b}  2 user:{b}
-- ARGV 1 a  2 follow id
-- Returns 1 | 0 nothing to remove
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not held or tonumber(held) > tonumber(ARGV[2]) then return 0 end
redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HINCRBY', KEYS[2], 'followers', -1) end
return 1
