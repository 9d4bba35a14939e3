-- add_to_tag.lua - adds a status to a tag, and removes the oldest beyond the limit.
-- KEYS 1 tag:{name}
-- ARGV 1 status id  2 the most statuses
-- Returns the number of statuses
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[1])
local count = redis.call('ZCARD', KEYS[1])
local over = math.min(count - tonumber(ARGV[2]), 100)
if over > 0 then redis.call('ZREMRANGEBYRANK', KEYS[1], 0, over - 1) end
return count
