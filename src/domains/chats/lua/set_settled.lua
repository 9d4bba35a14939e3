-- set_settled.lua - stores the version to which the lists of all members are settled.
-- KEYS 1 chat:{c}
-- ARGV 1 version
-- Returns 1 | 0 no such chat, or a later version is stored
local settled = redis.call('HGET', KEYS[1], 'settled')
if not settled or tonumber(settled) >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'settled', ARGV[1])
return 1
