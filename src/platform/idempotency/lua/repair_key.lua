-- repair_key.lua - makes both Redis keys of an owner agree about one digest, and deletes the digest if its value cannot be parsed.
-- KEYS 1 idempotency:{owner}  2 idempotent:{owner}
-- ARGV 1 digest  2 now, ms  3 time to live, ms
-- Returns 1 valid | 0 deleted
local bound = redis.call('HGET', KEYS[1], ARGV[1])
local word = '^[%w_-]+$'
local fingerprint = bound and (string.match(bound, '^([%w_-]+) [1-9]%d*$') or string.match(bound, '^([%w_-]+) [1-9]%d* [1-9]%d*$'))
if not fingerprint or #fingerprint ~= 22 or #ARGV[1] ~= 22 or not string.match(ARGV[1], word) then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
  return 0
end
redis.call('ZADD', KEYS[2], 'NX', ARGV[2], ARGV[1])
if redis.call('PTTL', KEYS[2]) < 0 then redis.call('PEXPIRE', KEYS[2], ARGV[3]) end
return 1
