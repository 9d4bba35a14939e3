-- remember_answer.lua - binds a client's key to the id that its first request creates.
-- KEYS 1 idempotency:{uid}  2 idempotent:{uid}  3 user:{uid}
-- ARGV 1 digest  2 "fingerprint id"  3 now, ms  4 time to live, ms  5 the most keys
-- Returns what the key is bound to: ARGV[2], or that of the first request | nothing, no such account
if redis.call('EXISTS', KEYS[3]) == 0 then return '' end
local function drop(digests)
  if #digests == 0 then return end
  redis.call('HDEL', KEYS[1], unpack(digests))
  redis.call('ZREM', KEYS[2], unpack(digests))
end
local past = ARGV[3] - ARGV[4]
local since = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]))
local tied = since and since > past and redis.call('HGET', KEYS[1], ARGV[1])
if not tied then
  tied = ARGV[2]
  redis.call('HSET', KEYS[1], ARGV[1], tied)
  redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
end
drop(redis.call('ZRANGE', KEYS[2], '-inf', past, 'BYSCORE', 'LIMIT', 0, 100))
local over = redis.call('ZCARD', KEYS[2]) - ARGV[5]
if over > 0 then drop(redis.call('ZRANGE', KEYS[2], 0, math.min(over, 100) - 1)) end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return tied
