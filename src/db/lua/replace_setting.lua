-- replace_setting.lua - replaces a setting of the store, if it still has the value that was read.
-- KEYS 1 settings:{store}
-- ARGV 1 name  2 value as read, empty for none  3 new value
-- Returns 1 | 0 another process has replaced it
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
