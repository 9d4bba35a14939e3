-- set_field.lua - sets or deletes a field of an existing hash, if it still has the value that was found.
-- KEYS 1 hash:{tag}
-- ARGV 1 field  2 whether it existed, 1 or 0  3 its value  4 whether it shall exist, 1 or 0  5 its new value
-- Returns 1 | 0 the hash is missing, or the field has changed
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local held = redis.call('HGET', KEYS[1], ARGV[1])
if (held and '1' or '0') ~= ARGV[2] or (held and held ~= ARGV[3]) then return 0 end
if ARGV[4] == '0' then return redis.call('HDEL', KEYS[1], ARGV[1]) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[5])
return 1
