-- add_membership.lua - writes the member's side of a membership, replacing an older or newer one.
-- KEYS 1 memberships:{uid}  2 user:{uid}
-- ARGV 1 list id  2 membership id
-- Returns 1 | 0 no such account
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
return 1
