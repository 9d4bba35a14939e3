-- remove_hidden_reposts.lua - removes an account from those whose reposts are hidden, unless it was added under the present follow.
-- KEYS 1 following:{a}  2 reposts_hidden:{a}
-- ARGV 1 b
-- Returns 1 | 0 nothing to remove
local hidden = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not hidden or hidden == redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
return redis.call('ZREM', KEYS[2], ARGV[1])
