-- set_text.lua - replaces a string that still begins with the text that was found; its time to live stays.
-- KEYS 1 key:{tag}
-- ARGV 1 its beginning  2 the new value
-- Returns 1 | 0 it has changed, or does not exist
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] and #ARGV[1] > 0 then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1
