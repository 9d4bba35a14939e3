-- touch_session.lua - records that a session was used, and extends its time to live.
-- KEYS 1 session:{digest}
-- ARGV 1 seen, ms  2 new time to live, ms  3 the least time between two records, ms
-- Returns 1 | 0 the session has ended, and is not created again
local seen = tonumber(redis.call('HGET', KEYS[1], 'seen'))
if not seen then return 0 end
-- Of concurrent requests only one writes, and a clock that is behind undoes nothing.
if tonumber(ARGV[1]) - seen < tonumber(ARGV[3]) then return 1 end
redis.call('HSET', KEYS[1], 'seen', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
