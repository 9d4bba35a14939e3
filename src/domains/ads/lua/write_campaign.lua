-- write_campaign.lua - creates a campaign.
-- KEYS 1 campaign:{C}  2 keywords:{C}
-- ARGV 1 number of fields  then field, value, …  then id of the addition, keyword, …
-- Returns 1 | 0 it exists
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local last = 1 + 2 * ARGV[1]
redis.call('HSET', KEYS[1], unpack(ARGV, 2, last))
if #ARGV > last then redis.call('ZADD', KEYS[2], unpack(ARGV, last + 1)) end
return 1
