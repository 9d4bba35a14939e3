-- index_status.lua - adds a status to its author's profile, and counts it.
-- KEYS 1 profile:{uid}  2 user:{uid}
-- ARGV 1 status id  2 the most statuses of an account
-- Returns 1 | 0 no such account | -1 the limit is reached; the author's number of followers; the author's fan-out mode; whether
--         the author is private
if redis.call('EXISTS', KEYS[2]) == 0 then return {0, 0, '', 0} end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return {-1, 0, '', 0} end
  redis.call('ZADD', KEYS[1], ARGV[1], ARGV[1])
  redis.call('HINCRBY', KEYS[2], 'posts', 1)
end
local author = redis.call('HMGET', KEYS[2], 'followers', 'reach', 'private')
return {1, tonumber(author[1] or 0), author[2] or '', author[3] and 1 or 0}
