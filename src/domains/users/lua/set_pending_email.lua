-- set_pending_email.lua - sets the pending address of an account, and stores the recipient of a message to the confirmed one. A token of the address before
-- ends.
-- KEYS 1 user:{id}  2 email:{id}  3 email_pending:{id}  4 email_notices:{id}
-- ARGV 1 the version of the confirmed address that was read  2 the epoch of device tokens when the password was verified  3 time to live, ms
--   4 id of the notice, 0 for none  5 time to live of notices, ms  6… field, value, …
-- Returns 1 | 0 no such account | 3 the account has made another change | 4 the password was changed
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if (redis.call('HGET', KEYS[2], 'version') or '0') ~= ARGV[1] then return 3 end
if (redis.call('HGET', KEYS[1], 'devices') or '') ~= ARGV[2] then return 4 end
redis.call('HSET', KEYS[3], unpack(ARGV, 6))
redis.call('HDEL', KEYS[3], 'token')
redis.call('PEXPIRE', KEYS[3], ARGV[3])
local address = redis.call('HGET', KEYS[2], 'address')
if address then store_notice(4, ARGV[4], address, ARGV[5]) end
return 1
