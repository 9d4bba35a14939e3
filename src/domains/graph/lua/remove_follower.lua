-- remove_follower.lua - removes the other side of a follow, whatever its id.
-- KEYS 1 followers:{b}  2 user:{b}
-- ARGV 1 a
-- Returns the number of b's followers (0 for no account b), b's fan-out mode
local count = redis.call('ZCARD', KEYS[1])
local removed = redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('EXISTS', KEYS[2]) == 0 then return {0, ''} end
if removed == 1 then redis.call('HINCRBY', KEYS[2], 'followers', -1) end
return {count - removed, redis.call('HGET', KEYS[2], 'reach') or ''}
