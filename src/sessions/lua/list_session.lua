-- list_session.lua - lists a session under its account, until no session of it can live.
-- KEYS 1 sessions:{uid}
-- ARGV 1 digest  2 session id  3 how long a session lives at most, ms
-- Returns 1
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
