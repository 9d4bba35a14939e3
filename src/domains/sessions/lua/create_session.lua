-- create_session.lua - writes a session with its time to live.
-- KEYS 1 session:{digest}
-- ARGV 1 time to live without use, ms  2… field, value, …
-- Returns 1
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
