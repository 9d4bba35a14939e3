-- set_text.lua - replaces a string that begins as it was found. Its time to live stays.
-- KEYS 1 key:{tag}
-- ARGV 1 how it begins  2 what it shall be
-- Returns 1 | 0 it has changed since, or is not there
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] and #ARGV[1] > 0 then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1
