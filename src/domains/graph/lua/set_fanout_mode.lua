-- set_fanout_mode.lua - sets an author's fan-out mode, if it has not changed.
-- KEYS 1 user:{b}
-- ARGV 1 the expected mode ('' for pushed)  2 the new mode
-- Returns the mode afterwards; nothing is written if there is no such account
local held = redis.call('HGET', KEYS[1], 'reach') or ''
if held ~= ARGV[1] or redis.call('EXISTS', KEYS[1]) == 0 then return held end
if ARGV[2] == '' then redis.call('HDEL', KEYS[1], 'reach') else redis.call('HSET', KEYS[1], 'reach', ARGV[2]) end
return ARGV[2]
