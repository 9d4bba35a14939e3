-- update_user.lua - sets fields of an account, if it exists.
-- KEYS 1 user:{id}
-- ARGV field, value, … (none is allowed)
-- Returns 1 | 0 no such account
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if #ARGV > 0 then redis.call('HSET', KEYS[1], unpack(ARGV)) end
return 1
