-- end_sessions.lua - moves all sessions of an account from its list to its list of ended sessions.
-- KEYS 1 user:{uid}  2 sessions:{uid}  3 sessions_ended:{uid}
-- ARGV 1 absolute lifetime of a session, ms
-- Returns 1 | 0 no such account
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local listed = redis.call('ZRANGE', KEYS[2], 0, 999, 'WITHSCORES')
for n = 1, #listed, 2 do
  redis.call('ZADD', KEYS[3], listed[n + 1], listed[n])
end
if #listed == 0 then return 1 end
redis.call('PEXPIRE', KEYS[3], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, 999)
return 1
