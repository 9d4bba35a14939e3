-- add_mention.lua - adds a status to those that mention an account, and removes the oldest beyond the limit.
-- KEYS 1 mentions:{uid}  2 user:{uid}
-- ARGV 1 status id  2 the most statuses
-- Returns 1 | 0 no such account
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[1])
local over = math.min(redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[2]), 100)
if over > 0 then redis.call('ZREMRANGEBYRANK', KEYS[1], 0, over - 1) end
return 1
