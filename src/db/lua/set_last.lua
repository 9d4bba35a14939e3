-- set_last.lua - sets the field `last` of a hash to the id of the newest entry of its stream. Creates a missing hash.
-- KEYS 1 hash:{tag}  2 stream:{tag}
-- ARGV none
-- Returns 1 | 0 the stream is empty
local newest = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
if not newest then return 0 end
redis.call('HSET', KEYS[1], 'last', newest[1])
return 1
