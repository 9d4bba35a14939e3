-- drop_stray.lua - takes a member out of an order whose comment is not there.
-- KEYS 1 replies:{sid}:order  2 comment:{sid}:cid
-- ARGV 1 member
-- Returns 1 | 0 its comment is there, or it was not in it
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
