-- remove_following.lua - removes the follower's side of a follow: the commit. From here on b's statuses are hidden in a's home.
-- KEYS 1 following:{a}  2 user:{a}  3 left:{a}
-- ARGV 1 b
-- Returns the id of the removed follow | 0 there was none
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not held then return '0' end
redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('ZADD', KEYS[3], held, ARGV[1])
  redis.call('HINCRBY', KEYS[2], 'following', -1)
  redis.call('HINCRBY', KEYS[2], 'edges', 1)
end
return string.format('%.0f', held)
