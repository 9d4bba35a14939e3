-- remove_email.lua - removes the confirmed and the pending address of an account, and stores the recipient of a message to the confirmed one. The
-- tokens that confirm an address or reset the password end.
-- KEYS 1 user:{id}  2 email:{id}  3 email_pending:{id}  4 email_reset:{id}  5 email_notices:{id}
-- ARGV 1 the version before  2 the version after  3 id of the notice  4 time to live of notices, ms
-- Returns 1 | 0 no such account | 3 the account has made another change
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if (redis.call('HGET', KEYS[2], 'version') or '0') ~= ARGV[1] then return 3 end
local before = redis.call('HGET', KEYS[2], 'address')
if before then
  redis.call('HSET', KEYS[2], 'version', ARGV[2])
  redis.call('HDEL', KEYS[2], 'address', 'confirmation')
  store_notice(5, ARGV[3], before, ARGV[4])
end
redis.call('UNLINK', KEYS[3], KEYS[4])
return 1
