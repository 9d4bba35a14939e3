-- show_reposts.lua - hides the reposts of a followed account in the follower's home, or shows them again. A change increments `edges`, the version of
-- the sources of the home.
-- KEYS 1 following:{a}  2 reposts_hidden:{a}  3 user:{a}
-- ARGV 1 b  2 '1' to show them
-- Returns 1 | 0 a does not follow b
local follow = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not follow then return 0 end
local changed
if ARGV[2] == '1' then
  changed = redis.call('ZREM', KEYS[2], ARGV[1])
else
  changed = redis.call('ZADD', KEYS[2], 'CH', follow, ARGV[1])
end
if changed == 1 and redis.call('EXISTS', KEYS[3]) == 1 then redis.call('HINCRBY', KEYS[3], 'edges', 1) end
return 1
