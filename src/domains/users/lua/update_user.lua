-- update_user.lua - sets and removes fields of an account, if the account exists.
-- KEYS 1 user:{id}
-- ARGV 1 a field whose change is reported, '' for none  2 its new value, '' removes it  3 number of other fields to remove
--   4… their names, then field, value, … (may be empty)
-- Returns 1 | 0 no such account | 2 the field of ARGV 1 was removed, or was added and not there before
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local changed, first = 0, 4 + tonumber(ARGV[3])
if ARGV[1] ~= '' and ARGV[2] == '' then changed = redis.call('HDEL', KEYS[1], ARGV[1]) end
if ARGV[1] ~= '' and ARGV[2] ~= '' then changed = redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
if first > 4 then redis.call('HDEL', KEYS[1], unpack(ARGV, 4, first - 1)) end
if #ARGV >= first then redis.call('HSET', KEYS[1], unpack(ARGV, first)) end
return changed > 0 and 2 or 1
