-- forget_left.lua - nothing of somebody is in a home any more whom its owner had left, unless that was done once more since.
-- KEYS 1 left:{a}
-- ARGV 1 b  2 the follow that was undone
-- Returns 1 | 0 it stays
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not held or tonumber(held) ~= tonumber(ARGV[2]) then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
