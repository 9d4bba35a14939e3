-- request_follow.lua - writes the requester's side of a follow request: the commit. A follow or an earlier request stays as it is.
-- KEYS 1 follow_requests_sent:{a}  2 following:{a}  3 user:{a}
-- ARGV 1 b  2 request id  3 the most requests that an account sends
-- Returns 1 | -1 no account a | -2 the limit is reached
if redis.call('EXISTS', KEYS[3]) == 0 then return -1 end
if redis.call('ZSCORE', KEYS[2], ARGV[1]) or redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return -2 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
return 1
