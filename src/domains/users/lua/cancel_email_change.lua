-- cancel_email_change.lua - raises the version of an account's address, so that a change of it that was not made can no longer be made.
-- KEYS 1 user:{id}  2 email:{id}
-- ARGV 1 the version that was read  2 the version of the change
-- Returns 1 | 0 no such account | 3 the account has made another change
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if (redis.call('HGET', KEYS[2], 'version') or '0') ~= ARGV[1] then return 3 end
redis.call('HSET', KEYS[2], 'version', ARGV[2])
return 1
