-- raise_published.lua - notes up to which row all events of a chat were published. It only rises.
-- KEYS 1 chat:{c}
-- ARGV 1 row
-- Returns 1 | 0 no such chat
if redis.call('HEXISTS', KEYS[1], 'kind') == 0 then return 0 end
local published = tonumber(redis.call('HGET', KEYS[1], 'published') or 0)
if tonumber(ARGV[1]) > published then redis.call('HSET', KEYS[1], 'published', ARGV[1]) end
return 1
