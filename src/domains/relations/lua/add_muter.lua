-- add_muter.lua - writes the other side of a mute.
-- KEYS 1 muters:{b}  2 user:{b}
-- ARGV 1 a  2 mute id
-- Returns 1 | 0 no account b
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
return 1
