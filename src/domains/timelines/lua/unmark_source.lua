-- unmark_source.lua - removes the mark of an author whose statuses are among the entries down to the floor. A concurrent rebuild of the
-- feed has left them out and must start again, so this counts as a change of the sources.
-- KEYS 1 marked:{id}  2 feed:{id}  3 user:{id}, or list:{id}
-- ARGV 1 author  2 the floor down to which the statuses were added
-- Returns 1 | 0 the floor is lower by now, the mark stays
local state = redis.call('HMGET', KEYS[2], 'floor', 'is')
if not state[2] and tonumber(state[1] or 0) < tonumber(ARGV[2]) then return 0 end
if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 and redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('HINCRBY', KEYS[3], 'edges', 1)
end
return 1
