-- change_account.lua - changes the login, the mail addresses and the profile of an account together, if the history of its logins and the version of its
-- address are still those that were read. Stores the recipient of a message to the confirmed address.
-- KEYS 1 user:{id}  2 email:{id}  3 email_pending:{id}  4 email_reset:{id}  5 email_notices:{id}
-- ARGV 1 the history that was read, '' for none  2 the new history, '' leaves the login  3 the new login
--   4 change of the addresses: keep | request | confirm | remove | remove-pending  5 the version of the address before  6 and after
--   7 the confirmation  8 the confirmed address  9 id of the notice, 0 for none  10 time to live of notices, ms  11 time to live of a pending address, ms
--   12 number of fields and values of the pending address  13 number of fields of the account to remove  14… the fields and values of the pending
--   address; the fields of the account to remove; the fields and values of the account to set
-- Returns 1 | 0 no such account | 2 the history is another one | 3 the version of the address is another one
local change = ARGV[4]
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if ARGV[2] ~= '' and (redis.call('HGET', KEYS[1], 'logins') or '') ~= ARGV[1] then return 2 end
if change ~= 'keep' and (redis.call('HGET', KEYS[2], 'version') or '0') ~= ARGV[5] then return 3 end
local pending, removed = 14 + tonumber(ARGV[12]), 14 + tonumber(ARGV[12]) + tonumber(ARGV[13])
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'logins', ARGV[2], 'login', ARGV[3]) end
if #ARGV >= removed then redis.call('HSET', KEYS[1], unpack(ARGV, removed)) end
if removed > pending then redis.call('HDEL', KEYS[1], unpack(ARGV, pending, removed - 1)) end
local before = change ~= 'keep' and redis.call('HGET', KEYS[2], 'address')
if before and change ~= 'remove-pending' then store_notice(5, ARGV[9], before, ARGV[10]) end
if change == 'request' then
  redis.call('HSET', KEYS[3], unpack(ARGV, 14, pending - 1))
  redis.call('HDEL', KEYS[3], 'token')
  redis.call('PEXPIRE', KEYS[3], ARGV[11])
elseif change == 'confirm' then
  redis.call('HSET', KEYS[2], 'address', ARGV[8], 'version', ARGV[6], 'confirmation', ARGV[7], 'confirmed', ARGV[6])
  redis.call('UNLINK', KEYS[3], KEYS[4])
elseif change == 'remove' then
  if before then
    redis.call('HSET', KEYS[2], 'version', ARGV[6])
    redis.call('HDEL', KEYS[2], 'address', 'confirmation')
  end
  redis.call('UNLINK', KEYS[3], KEYS[4])
elseif change == 'remove-pending' then
  redis.call('UNLINK', KEYS[3])
end
return 1
