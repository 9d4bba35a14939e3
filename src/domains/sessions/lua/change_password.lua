-- change_password.lua - replaces the hash of a password, and moves all sessions but one from the account's list to those that end.
-- KEYS 1 password:{uid}  2 user:{uid}  3 sessions:{uid}  4 sessions_ended:{uid}
-- ARGV 1 the verified hash  2 the new hash  3 the new epoch of device tokens  4 the digest of the session that stays  5 absolute lifetime of a session, ms
-- Returns 1 | 0 no such account | 2 the hash has changed since it was verified | 3 the session that stays has ended
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 2 end
if not redis.call('ZSCORE', KEYS[3], ARGV[4]) then return 3 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('HSET', KEYS[2], 'devices', ARGV[3])
local listed = redis.call('ZRANGE', KEYS[3], 0, 999, 'WITHSCORES')
for n = 1, #listed, 2 do
  if listed[n] ~= ARGV[4] then
    redis.call('ZADD', KEYS[4], listed[n + 1], listed[n])
    redis.call('ZREM', KEYS[3], listed[n])
  end
end
redis.call('PEXPIRE', KEYS[4], ARGV[5])
return 1
