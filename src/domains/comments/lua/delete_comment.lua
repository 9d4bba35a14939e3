-- delete_comment.lua - takes away what a comment says and who said it. Its place stays as long as it has replies, with the numbers of its votes.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 how long it is known that it was there, ms  8 of how many that is known  9 who asks
-- Returns how many living comments went: 1 | 0 there is no such comment | -1 it is another's
local is = redis.call('HMGET', KEYS[12], 'uid', 'places')
if not is[1] or not stands() then return 0 end
if is[1] ~= ARGV[9] then return -1 end
count(-1, is[1])
count_reply(-1)
append('d', 1)
redis.call('ZREM', KEYS[5], ARGV[3])
if tonumber(is[2] or 0) > 0 then
  redis.call('HSET', KEYS[12], 'gone', 1)
  redis.call('HDEL', KEYS[12], 'uid', 'message', 'edited', 'others', 'told')
  redis.call('UNLINK', KEYS[13])
else
  leave()
end
return 1
