-- delete_mistyped.lua - deletes a key that is not of its documented type.
-- KEYS 1 key:{tag}
-- ARGV 1 type
-- Returns 1 | 0 it is of this type, or there is no such key
local kind = redis.call('TYPE', KEYS[1])['ok']
if kind == ARGV[1] or kind == 'none' then return 0 end
return redis.call('UNLINK', KEYS[1])
