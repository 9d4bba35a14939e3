-- add_ad.lua - creates an ad of a campaign.
-- KEYS 1 campaign:{C}  2 ads:{C}  3 ad:{C}:A
-- ARGV 1 the ad  2 maximum number of ads  3 maximum number of ads over the campaign's lifetime  4… field, value, …
-- Returns 1 | 0 no such campaign | -1 too many ads | -2 it was removed | -3 too many ads over the lifetime
if redis.call('HEXISTS', KEYS[1], 'id') == 0 then return 0 end
if redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 1 end
if redis.call('EXISTS', KEYS[3]) == 1 then return -2 end
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[2]) then return -1 end
if tonumber(redis.call('HGET', KEYS[1], 'made') or 0) >= tonumber(ARGV[3]) then return -3 end
redis.call('HINCRBY', KEYS[1], 'made', 1)
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('ZADD', KEYS[2], ARGV[1], ARGV[1])
redis.call('HSET', KEYS[3], unpack(ARGV, 4))
return 1
