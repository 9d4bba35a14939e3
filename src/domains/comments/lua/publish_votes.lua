-- publish_votes.lua - publishes an event about the votes on a comment, if one is due.
-- KEYS those of thread.lua without the ancestors, all of {sid}
-- ARGV 1-6 those of thread.lua
-- Returns 1 | 0 no event is due
local due = redis.call('ZSCORE', KEYS[5], ARGV[3])
if not due or tonumber(due) > tonumber(ARGV[4]) then return 0 end
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[12], 'uid') == 1 then
  redis.call('HSET', KEYS[12], 'told', ARGV[4])
  append('v', 0)
end
redis.call('ZREM', KEYS[5], ARGV[3])
return 1
