-- remove_following.lua - removes the follower's side of a follow: the commit. From here on b's statuses are hidden in a's home.
-- With ARGV 2, it also ends a follow request.
-- KEYS 1 following:{a}  2 user:{a}  3 left:{a}  4 follow_requests_sent:{a}
-- ARGV 1 b  2 '1' to end a request, too
-- Returns the id of the removed follow | 0 there was none
if ARGV[2] == '1' then redis.call('ZREM', KEYS[4], ARGV[1]) end
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not held then return '0' end
redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('ZADD', KEYS[3], held, ARGV[1])
  redis.call('HINCRBY', KEYS[2], 'following', -1)
  redis.call('HINCRBY', KEYS[2], 'edges', 1)
end
return string.format('%.0f', held)
