-- unmute_user.lua - removes mutes: the commit.
-- KEYS 1 mutes:{a}  2 mute_ends:{a}  3 user:{a}
-- ARGV accounts
-- Returns the number of removed mutes
local removed = redis.call('ZREM', KEYS[1], unpack(ARGV))
redis.call('ZREM', KEYS[2], unpack(ARGV))
if removed > 0 and redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('HINCRBY', KEYS[3], 'mutes', -removed)
  redis.call('HINCRBY', KEYS[3], 'relations', 1)
end
return removed
