-- reserve_friend.lua - reserves a slot for a friend or a request of the account with the higher id, whose side is written after the commit.
-- KEYS 1 friends:{a} or friend_requests_sent:{a}  2 friend_slots:{a}  3 user:{a}
-- ARGV 1 b  2 new id  3 most members of the set
-- Returns 1 | -1 no account a | -2 the limit is reached
if redis.call('EXISTS', KEYS[3]) == 0 then return -1 end
local used = redis.call('ZCARD', KEYS[1]) + redis.call('ZCARD', KEYS[2])
if redis.call('ZSCORE', KEYS[2], ARGV[1]) then used = used - 1 end
if used >= tonumber(ARGV[3]) then return -2 end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
return 1
