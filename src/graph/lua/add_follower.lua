-- add_follower.lua - the other side of a follow; the newest one stands.
-- KEYS 1 followers:{b}  2 user:{b}
-- ARGV 1 a  2 follow id
-- Returns 1 | 0 no account b
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not held then
  redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
  redis.call('HINCRBY', KEYS[2], 'followers', 1)
elseif tonumber(held) < tonumber(ARGV[2]) then
  redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
end
return 1
