-- leave_comment.lua - takes the place of a deleted comment away that was kept for replies which are not there, as long as its thread is as it was read.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 how long it is known that it was there, ms  8 of how many that is known  9 the newest event when it was read
-- Returns 1 | 0 it is not deleted, or the thread has changed since
if redis.call('HEXISTS', KEYS[12], 'gone') == 0 or (redis.call('HGET', KEYS[3], 'last') or '') ~= ARGV[9] then return 0 end
leave()
return 1
