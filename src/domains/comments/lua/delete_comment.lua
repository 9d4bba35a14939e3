-- delete_comment.lua - removes the text and author of a comment. It stays in the thread while it has replies, with its counts of votes.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 how long deleted comments are remembered, ms  8 how many  9 the requesting account
-- Returns the number of deleted comments: 1 | 0 no such comment | -1 it is another account's comment
local fields = redis.call('HMGET', KEYS[12], 'uid', 'places')
if not fields[1] or not is_attached() then return 0 end
if fields[1] ~= ARGV[9] then return -1 end
add_to_counts(-1, fields[1])
add_to_replies(-1)
append('d', 1)
redis.call('ZREM', KEYS[5], ARGV[3])
if tonumber(fields[2] or 0) > 0 then
  redis.call('HSET', KEYS[12], 'gone', 1)
  redis.call('HDEL', KEYS[12], 'uid', 'message', 'entities', 'edited', 'others', 'told')
  redis.call('UNLINK', KEYS[13])
else
  remove_from_thread()
end
return 1
