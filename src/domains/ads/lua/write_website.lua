-- write_website.lua - writes what a website is, once: from here on it is there.
-- KEYS 1 website:{W}
-- ARGV field, value, …
-- Returns 1 | 0 it is there
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
