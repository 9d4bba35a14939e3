-- like_status.lua - likes a status, or takes the like back: the commit.
-- KEYS 1 status:{id}  2 likers:{id}
-- ARGV 1 user id  2 like id, 0 to take it back
-- Returns the id of the like | 0 there is none | -1 no such status
if redis.call('EXISTS', KEYS[1]) == 0 then return '-1' end
if ARGV[2] == '0' then
  if redis.call('ZREM', KEYS[2], ARGV[1]) == 1 then redis.call('HINCRBY', KEYS[1], 'likes', -1) end
  return '0'
end
if redis.call('ZADD', KEYS[2], 'NX', ARGV[2], ARGV[1]) == 1 then redis.call('HINCRBY', KEYS[1], 'likes', 1) end
return string.format('%.0f', redis.call('ZSCORE', KEYS[2], ARGV[1]))
