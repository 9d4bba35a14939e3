-- add_signing_key.lua - creates the first key that signs impression tokens, or rotates it. The previous key is kept, older ones are deleted.
-- KEYS 1 signing:{ads}
-- ARGV 1 the key  2 now, ms  3 1 to rotate
-- Returns the newest version
local newest = redis.call('HGET', KEYS[1], 'newest')
if newest and (ARGV[3] ~= '1' or redis.call('HGET', KEYS[1], newest) == ARGV[1]) then return newest end
local version = newest and newest + 1 or 1
redis.call('HSET', KEYS[1], 'newest', string.format('%d', version), 'made', ARGV[2], string.format('%d', version), ARGV[1])
if version > 2 then redis.call('HDEL', KEYS[1], string.format('%d', version - 2)) end
return string.format('%d', version)
