-- forget_hidden_reposts.lua - forgets that the reposts of an account are hidden, unless that belongs to the present follow.
-- KEYS 1 following:{a}  2 reposts_hidden:{a}
-- ARGV 1 b
-- Returns 1 | 0 nothing to forget
local hidden = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not hidden or hidden == redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
return redis.call('ZREM', KEYS[2], ARGV[1])
