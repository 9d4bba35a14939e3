-- touch_session.lua - notes that a session was used, and moves its end.
-- KEYS 1 session:{digest}
-- ARGV 1 seen_ms  2 how long it lives from now on, ms  3 how long a note stands, ms
-- Returns 1 | 0 when the session has ended: it must not come back
local seen = tonumber(redis.call('HGET', KEYS[1], 'seen'))
if not seen then return 0 end
-- Of many requests at once only one writes, and a clock that is behind takes nothing back.
if tonumber(ARGV[1]) - seen < tonumber(ARGV[3]) then return 1 end
redis.call('HSET', KEYS[1], 'seen', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
