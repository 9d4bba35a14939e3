-- add_capped_campaigns.lua - stores the campaigns whose frequency cap a visitor has reached, so that decisions skip them.
-- KEYS 1 capped:{V}
-- ARGV 1 now, ms  2 maximum number of campaigns; those whose cap period ends last are kept  3 end of the last of these cap periods, ms
--      then for each campaign: end of its cap period, ms, and the campaign
-- Returns nothing
redis.call('ZADD', KEYS[1], 'GT', unpack(ARGV, 4))
local over = redis.call('ZRANGE', KEYS[1], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, 1000)
if #over > 0 then redis.call('ZREM', KEYS[1], unpack(over)) end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[2])
-- Campaigns of earlier calls may have later ends.
local left = ARGV[3] - ARGV[1]
if redis.call('PTTL', KEYS[1]) < left then redis.call('PEXPIRE', KEYS[1], string.format('%.0f', left)) end
