-- end_mutes.lua - removes mutes that have ended.
-- KEYS 1 mutes:{a}  2 mute_ends:{a}  3 user:{a}
-- ARGV 1 now, ms  2 the most to remove
-- Returns the accounts whose mutes were removed
local ended = redis.call('ZRANGE', KEYS[2], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[2])
if #ended == 0 then return ended end
local removed = redis.call('ZREM', KEYS[1], unpack(ended))
redis.call('ZREM', KEYS[2], unpack(ended))
if removed > 0 and redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('HINCRBY', KEYS[3], 'mutes', -removed)
  redis.call('HINCRBY', KEYS[3], 'relations', 1)
end
return ended
