-- add_request.lua - writes the other side of a follow request, which replaces a follow. A public account receives no requests.
-- KEYS 1 follow_requests_received:{b}  2 followers:{b}  3 user:{b}
-- ARGV 1 a  2 request id
-- Returns 1 | 0 no account b | 2 b is public: nothing was written; the number of b's followers, b's fan-out mode
if redis.call('EXISTS', KEYS[3]) == 0 then return {0, 0, ''} end
local status = 2
if redis.call('HEXISTS', KEYS[3], 'private') == 1 then
  status = 1
  redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
  if redis.call('ZREM', KEYS[2], ARGV[1]) == 1 then redis.call('HINCRBY', KEYS[3], 'followers', -1) end
end
return {status, redis.call('ZCARD', KEYS[2]), redis.call('HGET', KEYS[3], 'reach') or ''}
