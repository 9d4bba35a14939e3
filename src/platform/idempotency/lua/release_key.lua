-- release_key.lua - releases the key of a refused request.
-- KEYS 1 idempotency:{owner}  2 idempotent:{owner}
-- ARGV 1 digest  2 "fingerprint id"
-- Returns 1 | 0 it is bound to another id, or to none
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return 1
