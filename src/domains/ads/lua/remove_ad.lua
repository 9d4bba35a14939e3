-- remove_ad.lua - removes an ad from its campaign. The definition of the ad expires later: clicks on its impressions still need it.
-- KEYS 1 campaign:{C}  2 ad:{C}:A  3 ads:{C}
-- ARGV 1 the ad  2 now, ms  3 time to live of its definition, ms
-- Returns 1 | 0 no such ad
if not redis.call('ZSCORE', KEYS[3], ARGV[1]) then return 0 end
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HSET', KEYS[2], 'removed', ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return redis.call('ZREM', KEYS[3], ARGV[1])
