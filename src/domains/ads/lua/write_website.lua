-- write_website.lua - creates a website.
-- KEYS 1 website:{W}
-- ARGV field, value, …
-- Returns 1 | 0 it exists
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
