-- forget_unfollowed.lua - forgets an undone follow once a home has no statuses of that account, unless it was undone again since.
-- KEYS 1 left:{a}
-- ARGV 1 b  2 the follow that was undone
-- Returns 1 | 0 it was undone again
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not held or tonumber(held) ~= tonumber(ARGV[2]) then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
