-- add_capped_campaigns.lua - stores the campaigns whose frequency cap a visitor has reached, so that decisions skip them.
-- KEYS 1 capped:{V}
-- ARGV 1 now, ms  2 maximum number of campaigns; those whose cap period ends last are kept
--      then for each campaign: end of its cap period, ms, and the campaign
-- Returns nothing
redis.call('ZADD', KEYS[1], 'GT', unpack(ARGV, 3))
local over = redis.call('ZRANGE', KEYS[1], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, 1000)
if #over > 0 then redis.call('ZREM', KEYS[1], unpack(over)) end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[2])
-- Campaigns of earlier calls may have later ends.
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
if last then redis.call('PEXPIRE', KEYS[1], string.format('%.0f', last - ARGV[1])) end
