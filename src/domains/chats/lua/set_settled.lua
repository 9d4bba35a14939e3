-- set_settled.lua - notes up to which version the lists of all members agree with a chat.
-- KEYS 1 chat:{c}
-- ARGV 1 version
-- Returns 1 | 0 no such chat, or a later version is noted
local settled = redis.call('HGET', KEYS[1], 'settled')
if not settled or tonumber(settled) >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'settled', ARGV[1])
return 1
