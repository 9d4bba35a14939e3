-- forget_answer.lua - frees a client's key whose request has come to nothing.
-- KEYS 1 idempotency:{uid}  2 idempotent:{uid}
-- ARGV 1 digest  2 "fingerprint id"
-- Returns 1 | 0 it is tied to something else, or to nothing
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return 1
