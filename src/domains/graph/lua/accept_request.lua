-- accept_request.lua - turns a follow request into a follow: the commit.
-- KEYS 1 follow_requests_sent:{a}  2 following:{a}  3 user:{a}
-- ARGV 1 b  2 follow id  3 the most accounts to follow
-- Returns 1 | 0 no request and no follow, or no account a | -2 the limit is reached, the request stays
if redis.call('EXISTS', KEYS[3]) == 0 then return 0 end
if redis.call('ZSCORE', KEYS[2], ARGV[1]) then
  redis.call('ZREM', KEYS[1], ARGV[1])
  return 1
end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then return -2 end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
redis.call('HINCRBY', KEYS[3], 'following', 1)
redis.call('HINCRBY', KEYS[3], 'edges', 1)
return 1
