-- note_capped.lua - notes of which campaigns a visitor has seen enough, so that one need not ask: those that are kept longest come first.
-- KEYS 1 capped:{V}
-- ARGV 1 now, ms  2 how many at most  3 until when the last of these, ms  then until when, campaign, …
-- Returns nothing
redis.call('ZADD', KEYS[1], 'GT', unpack(ARGV, 4))
local over = redis.call('ZRANGE', KEYS[1], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, 1000)
if #over > 0 then redis.call('ZREM', KEYS[1], unpack(over)) end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[2])
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ARGV[3] - ARGV[1]))
