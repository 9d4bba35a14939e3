-- set_count.lua - sets a field of an existing hash to the size of a set.
-- KEYS 1 hash:{tag}  2 set:{tag}
-- ARGV 1 field
-- Returns 1 | 0 no such hash
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], redis.call('ZCARD', KEYS[2]))
return 1
