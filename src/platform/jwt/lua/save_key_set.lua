-- save_key_set.lua - stores a key set, unless a slightly later one of the same source is stored.
-- KEYS 1 jwks:{issuer}
-- ARGV 1 source  2 time of the fetch in ms  3 keys as JSON
-- Returns 1 | 0 a later one is kept
local kept = redis.call('HMGET', KEYS[1], 'source', 'fetched')
local ahead = (tonumber(kept[2]) or 0) - tonumber(ARGV[2])
-- More than a minute is a clock that was ahead, not a concurrent fetch.
if kept[1] == ARGV[1] and ahead > 0 and ahead < 60000 then return 0 end
redis.call('HSET', KEYS[1], 'source', ARGV[1], 'fetched', ARGV[2], 'keys', ARGV[3])
return 1
