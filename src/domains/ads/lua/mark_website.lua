-- mark_website.lua - records whether a website is suspended.
-- KEYS 1 website:{W}
-- ARGV 1 `1` suspended, `0` not
-- Returns 1 | 0 no such website
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'off', ARGV[1])
return 1
