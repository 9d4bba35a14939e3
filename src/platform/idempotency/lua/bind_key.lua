-- bind_key.lua - binds a client's key to the id of the object that its first request creates, for a limited time.
-- KEYS 1 idempotency:{owner}  2 idempotent:{owner}  3 user:{owner}, of an account
-- ARGV 1 digest  2 "fingerprint id"  3 now, ms  4 time to live, ms  5 the most keys of the owner
-- Returns the value that the key is bound to: ARGV 2, or that of the first request, with its result if one was stored | '' the account does not exist
if KEYS[3] and redis.call('EXISTS', KEYS[3]) == 0 then return '' end
local function drop(digests)
  if #digests == 0 then return end
  redis.call('HDEL', KEYS[1], unpack(digests))
  redis.call('ZREM', KEYS[2], unpack(digests))
end
local past = ARGV[3] - ARGV[4]
local bound_at = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]))
local bound = bound_at and bound_at > past and redis.call('HGET', KEYS[1], ARGV[1])
if not bound then
  bound = ARGV[2]
  redis.call('HSET', KEYS[1], ARGV[1], bound)
  redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
end
drop(redis.call('ZRANGE', KEYS[2], '-inf', past, 'BYSCORE', 'LIMIT', 0, 100))
local over = redis.call('ZCARD', KEYS[2]) - ARGV[5]
if over > 0 then drop(redis.call('ZRANGE', KEYS[2], 0, math.min(over, 100) - 1)) end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return bound
