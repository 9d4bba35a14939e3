-- touch_session.lua - notes that a session was used, and moves its end.
-- KEYS 1 session:{digest}
-- ARGV 1 seen_ms  2 how long it lives from now on, ms
-- Returns 1 | 0 when the session has ended: it must not come back
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'seen', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
