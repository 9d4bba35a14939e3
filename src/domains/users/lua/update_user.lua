-- update_user.lua - sets fields of an account, and removes one, if the account exists.
-- KEYS 1 user:{id}
-- ARGV 1 the field to remove, '' for none  2… field, value, … (none is allowed)
-- Returns 1 | 0 no such account | 2 the field was removed, or one was added that the account did not have
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local changed = 0
if ARGV[1] ~= '' then changed = redis.call('HDEL', KEYS[1], ARGV[1]) end
if #ARGV > 1 then changed = changed + redis.call('HSET', KEYS[1], unpack(ARGV, 2)) end
return changed > 0 and 2 or 1
