-- change_password.lua - replaces the hash of a password, and moves all sessions but one from the account's list to its list of ended
-- sessions. Links to confirm an address and to reset the password become invalid, also those in messages that are not sent yet.
-- KEYS 1 password:{uid}  2 user:{uid}  3 sessions:{uid}  4 sessions_ended:{uid}  5 email:{uid}  6 email_pending:{uid}  7 email_reset:{uid}
--   8 email_notices:{uid}
-- ARGV 1 the new hash  2 the new epoch of device tokens  3 absolute lifetime of a session, ms  4 id of the notice, 0 for none  5 time to live of notices, ms
--   6 the verified hash; '' for a reset  7 the digest of the session that stays, '' for none; or of the token that resets
-- Returns 1 | 0 no such account | 2 the hash has changed since it was verified, or an address was confirmed to which no message was
--   prepared | 3 the session that was to stay has ended, or the token was used
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
if ARGV[6] == '' then
  if redis.call('HGET', KEYS[7], 'token') ~= ARGV[7] then return 3 end
else
  if redis.call('GET', KEYS[1]) ~= ARGV[6] then return 2 end
  if ARGV[7] ~= '' and not redis.call('ZSCORE', KEYS[3], ARGV[7]) then return 3 end
  if ARGV[4] == '0' and redis.call('HEXISTS', KEYS[5], 'address') == 1 then return 2 end
end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], 'devices', ARGV[2])
local listed = redis.call('ZRANGE', KEYS[3], 0, 999, 'WITHSCORES')
for n = 1, #listed, 2 do
  if listed[n] ~= ARGV[7] then
    redis.call('ZADD', KEYS[4], listed[n + 1], listed[n])
    redis.call('ZREM', KEYS[3], listed[n])
  end
end
redis.call('PEXPIRE', KEYS[4], ARGV[3])
local address = redis.call('HGET', KEYS[5], 'address')
if address then store_notice(8, ARGV[4], address, ARGV[5]) end
-- The id of a message that waits is replaced, so no token is issued for it: the account requests the link again.
if redis.call('EXISTS', KEYS[6]) == 1 then
  redis.call('HDEL', KEYS[6], 'token')
  redis.call('HSET', KEYS[6], 'message', '0')
end
redis.call('UNLINK', KEYS[7])
return 1
