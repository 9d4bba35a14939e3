-- remove_ad.lua - takes an ad from a campaign. What it is, is known for a while: it may be clicked where it was shown.
-- KEYS 1 campaign:{C}  2 ad:{C}:A  3 ads:{C}
-- ARGV 1 its number  2 now, ms  3 how long it is known, ms
-- Returns 1 | 0 there is no such ad
if not redis.call('ZSCORE', KEYS[3], ARGV[1]) then return 0 end
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HSET', KEYS[2], 'removed', ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return redis.call('ZREM', KEYS[3], ARGV[1])
