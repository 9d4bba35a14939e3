-- remove_placeholder.lua - removes a deleted comment that was kept for replies which do not exist, if its thread has not changed since it was
-- read.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 how long deleted comments are remembered, ms  8 how many  9 the newest event at the read
-- Returns 1 | 0 it is not deleted, or the thread has changed since
if redis.call('HEXISTS', KEYS[12], 'gone') == 0 or (redis.call('HGET', KEYS[3], 'last') or '') ~= ARGV[9] then return 0 end
remove_from_thread()
return 1
