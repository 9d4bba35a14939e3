-- remove_stray_member.lua - removes a member from an order if its comment does not exist.
-- KEYS 1 replies:{sid}:order  2 comment:{sid}:cid
-- ARGV 1 member
-- Returns 1 | 0 the comment exists, or the member does not
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
