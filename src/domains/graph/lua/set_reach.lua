-- set_reach.lua - how an author's statuses reach its followers, if that is as it was.
-- KEYS 1 user:{b}
-- ARGV 1 as it was ('' for pushed)  2 as it shall be
-- Returns how it is now; nothing is written where there is no such account
local held = redis.call('HGET', KEYS[1], 'reach') or ''
if held ~= ARGV[1] or redis.call('EXISTS', KEYS[1]) == 0 then return held end
if ARGV[2] == '' then redis.call('HDEL', KEYS[1], 'reach') else redis.call('HSET', KEYS[1], 'reach', ARGV[2]) end
return ARGV[2]
