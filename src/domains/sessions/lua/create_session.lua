-- create_session.lua - writes a session together with its end.
-- KEYS 1 session:{digest}
-- ARGV 1 how long it lives unused, ms  2… field, value, …
-- Returns 1
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
