-- remove_unfollowed.lua - removes the record of an undone follow, once the home of a has no statuses of b, unless a newer follow was undone since.
-- KEYS 1 left:{a}
-- ARGV 1 b  2 the follow that was undone
-- Returns 1 | 0 there is no undone follow, or a newer one
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not held or tonumber(held) ~= tonumber(ARGV[2]) then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
