-- complete_key.lua - stores the result of a completed request. A key that is bound to another id is not changed.
-- KEYS 1 idempotency:{owner}
-- ARGV 1 digest  2 "fingerprint id"  3 result
-- Returns 1 | 0 it is bound to another id, or to none, or has a result
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
return 1
