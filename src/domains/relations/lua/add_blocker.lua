-- add_blocker.lua - writes the other side of a block, replacing an entry with another id.
-- KEYS 1 blockers:{b}  2 user:{b}
-- ARGV 1 a  2 block id
-- Returns 1 | 0 no account b
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
if redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[2], 'blocked_by', 1)
  redis.call('HINCRBY', KEYS[2], 'relations', 1)
end
return 1
