-- confirm_email.lua - makes the pending address of an account its confirmed one, and stores the recipient of a message to the previous one. The
-- tokens that confirm an address or reset the password end.
-- KEYS 1 user:{id}  2 email:{id}  3 email_pending:{id}  4 email_reset:{id}  5 email_notices:{id}
-- ARGV 1 digest of the token  2 the version before  3 the version after  4 the confirmation  5 id of the notice  6 time to live of notices, ms
-- Returns 1 | 0 no such account | 2 the token was used or replaced | 3 the account has made another change
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if (redis.call('HGET', KEYS[2], 'version') or '0') ~= ARGV[2] then return 3 end
if redis.call('HGET', KEYS[3], 'token') ~= ARGV[1] then return 2 end
local address, before = redis.call('HGET', KEYS[3], 'address'), redis.call('HGET', KEYS[2], 'address')
redis.call('HSET', KEYS[2], 'address', address, 'version', ARGV[3], 'confirmation', ARGV[4], 'confirmed', ARGV[3])
if before then store_notice(5, ARGV[5], before, ARGV[6]) end
redis.call('UNLINK', KEYS[3], KEYS[4])
return 1
