-- list_session.lua - adds a session to its account's list, which lives as long as any of its sessions can.
-- KEYS 1 sessions:{uid}  2 user:{uid}
-- ARGV 1 digest  2 session id  3 absolute lifetime of a session, ms  4 the epoch of device tokens when the password was verified; may be missing
-- Returns 1 | 0 no such account | 2 the epoch is another one now, and the session is not listed
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
if ARGV[4] and (redis.call('HGET', KEYS[2], 'devices') or '') ~= ARGV[4] then
  return redis.call('ZSCORE', KEYS[1], ARGV[1]) and 1 or 2
end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
