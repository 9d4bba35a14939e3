-- remove_blocks.lua - removes blocks from one side: that of the blocker (the commit), or the other one. The ids of the blocks are not checked.
-- KEYS 1 blocks:{a} or blockers:{a}  2 user:{a}
-- ARGV 1 the count in user:{a}: blocks or blocked_by  2… accounts
-- Returns the number of removed blocks
local removed = redis.call('ZREM', KEYS[1], unpack(ARGV, 2))
if removed > 0 and redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('HINCRBY', KEYS[2], ARGV[1], -removed)
  redis.call('HINCRBY', KEYS[2], 'relations', 1)
end
return removed
