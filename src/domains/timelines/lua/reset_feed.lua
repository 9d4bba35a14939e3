-- reset_feed.lua - drops a feed whose state is invalid, as if it had not been read for long.
-- KEYS 1 home:{id}, or timeline:{id}  2 feed:{id}  3 segments:{id}
-- ARGV none
-- Returns 1 | 0 the state is valid
local state = redis.call('HMGET', KEYS[2], 'floor', 'seen', 'is', 'late', 'reposts')
local function is_number(text) return not text or string.match(text, '^%d+$') end
local is_sound = is_number(state[1]) and is_number(state[2]) and is_number(state[4]) and is_number(state[5])
if is_sound and (not state[3] or state[3] == 'dropped' or state[3] == 'opening') then return 0 end
redis.call('UNLINK', KEYS[1], KEYS[3])
redis.call('HDEL', KEYS[2], 'floor', 'seen', 'late')
-- The feed may have reposts.
redis.call('HSET', KEYS[2], 'is', 'dropped', 'reposts', '1')
return 1
