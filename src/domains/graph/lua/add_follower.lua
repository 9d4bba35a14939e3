-- add_follower.lua - writes the other side of a follow, replacing an older or newer one.
-- KEYS 1 followers:{b}  2 user:{b}
-- ARGV 1 a  2 follow id
-- Returns the number of b's followers (0 for no account b), b's fan-out mode
if redis.call('EXISTS', KEYS[2]) == 0 then return {0, ''} end
local added = redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
if added == 1 then redis.call('HINCRBY', KEYS[2], 'followers', 1) end
return {redis.call('ZCARD', KEYS[1]), redis.call('HGET', KEYS[2], 'reach') or ''}
