-- edit_comment.lua - edits the text of a comment.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 the requesting account  8 message  9 entities, may be empty
-- Returns 1 | 0 no such comment | -1 it is another account's comment
local fields = redis.call('HMGET', KEYS[12], 'uid', 'message')
if not fields[1] or not is_attached() then return 0 end
if fields[1] ~= ARGV[7] then return -1 end
if fields[2] == ARGV[8] then return 1 end
redis.call('HSET', KEYS[12], 'message', ARGV[8], 'edited', ARGV[4])
if ARGV[9] ~= '' then redis.call('HSET', KEYS[12], 'entities', ARGV[9]) else redis.call('HDEL', KEYS[12], 'entities') end
append('e', 0)
return 1
