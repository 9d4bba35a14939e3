-- list_session.lua - adds a session to its account's list, which lives as long as any of its sessions can.
-- KEYS 1 sessions:{uid}  2 user:{uid}
-- ARGV 1 digest  2 session id  3 absolute lifetime of a session, ms
-- Returns 1 | 0 no such account
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
