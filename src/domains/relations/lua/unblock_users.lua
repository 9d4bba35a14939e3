-- unblock_users.lua - removes blocks: the commit.
-- KEYS 1 blocks:{a}  2 user:{a}
-- ARGV accounts
-- Returns the number of removed blocks
local removed = redis.call('ZREM', KEYS[1], unpack(ARGV))
if removed > 0 and redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('HINCRBY', KEYS[2], 'blocks', -removed)
  redis.call('HINCRBY', KEYS[2], 'relations', 1)
end
return removed
