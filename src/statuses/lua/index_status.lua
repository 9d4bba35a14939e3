-- index_status.lua - lists a status in its author's profile, and counts it.
-- KEYS 1 profile:{uid}  2 user:{uid}
-- ARGV 1 status id  2 the most an account may have
-- Returns 1 | 0 no such account | -1 the limit is reached; and how the author's statuses reach its followers now
if redis.call('EXISTS', KEYS[2]) == 0 then return {0, ''} end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return {-1, ''} end
  redis.call('ZADD', KEYS[1], ARGV[1], ARGV[1])
  redis.call('HINCRBY', KEYS[2], 'posts', 1)
end
return {1, redis.call('HGET', KEYS[2], 'reach') or ''}
