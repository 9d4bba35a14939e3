-- remove_blockers.lua - removes the other sides of blocks, whatever their ids.
-- KEYS 1 blockers:{b}  2 user:{b}
-- ARGV accounts
-- Returns the number of removed sides
local removed = redis.call('ZREM', KEYS[1], unpack(ARGV))
if removed > 0 and redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('HINCRBY', KEYS[2], 'blocked_by', -removed)
  redis.call('HINCRBY', KEYS[2], 'relations', 1)
end
return removed
