-- set_comments.lua - sets a status's number of comments, if its thread has not changed since it was read.
-- KEYS 1 status:{sid}  2 thread:{sid}
-- ARGV 1 the newest event at the read  2 the number
-- Returns 1 | 0 no such status, or the thread has changed since
if redis.call('EXISTS', KEYS[1]) == 0 or (redis.call('HGET', KEYS[2], 'last') or '') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'comments', ARGV[2])
return 1
