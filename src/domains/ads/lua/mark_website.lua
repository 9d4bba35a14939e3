-- mark_website.lua - notes whether a website is served. Nothing is written of one that is gone.
-- KEYS 1 website:{W}
-- ARGV 1 `1` for off, `0` for served
-- Returns 1 | 0 there is none
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'off', ARGV[1])
return 1
