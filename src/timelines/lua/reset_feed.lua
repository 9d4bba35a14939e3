-- reset_feed.lua - drops a feed whose state cannot be read, as if nobody had read it for long.
-- KEYS 1 home:{id}, or timeline:{id}  2 feed:{id}
-- ARGV none
-- Returns 1 | 0 it can be read
local state = redis.call('HMGET', KEYS[2], 'floor', 'seen', 'is')
local function is_number(text) return not text or string.match(text, '^%d+$') end
if is_number(state[1]) and is_number(state[2]) and (not state[3] or state[3] == 'dropped' or state[3] == 'opening') then return 0 end
redis.call('UNLINK', KEYS[1])
redis.call('HDEL', KEYS[2], 'floor', 'seen')
redis.call('HSET', KEYS[2], 'is', 'dropped')
return 1
