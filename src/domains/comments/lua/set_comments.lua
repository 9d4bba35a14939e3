-- set_comments.lua - sets how many comments a status counts, as long as its thread is as it was read.
-- KEYS 1 status:{sid}  2 thread:{sid}
-- ARGV 1 the newest event when it was read  2 how many
-- Returns 1 | 0 there is no such status, or the thread has changed since
if redis.call('EXISTS', KEYS[1]) == 0 or (redis.call('HGET', KEYS[2], 'last') or '') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'comments', ARGV[2])
return 1
