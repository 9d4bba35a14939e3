-- like_status.lua - likes a status, or takes the like back.
-- KEYS 1 status:{id}  2 likers:{id}
-- ARGV 1 user id  2 like id, 0 to take it back
-- Returns 1 | 0 no such status
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local changed
if ARGV[2] == '0' then
  changed = -redis.call('ZREM', KEYS[2], ARGV[1])
else
  changed = redis.call('ZADD', KEYS[2], 'NX', ARGV[2], ARGV[1])
end
if changed ~= 0 then redis.call('HINCRBY', KEYS[1], 'likes', changed) end
return 1
