-- count_unread.lua - counts the chats of an account with unread texts that are not muted. Writes nothing.
-- KEYS 1 chats_unread:{u}  2 chats_unread_muted:{u}  3 chat_mutes:{u}
-- ARGV 1 now, ms  2 the most ended mutes that are read
-- Returns the number, and the chats whose mutes have ended
local count = redis.call('ZCARD', KEYS[1]) - redis.call('ZCARD', KEYS[2])
local ended = redis.call('ZRANGE', KEYS[3], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[2])
for _, chat in ipairs(ended) do
  if redis.call('ZSCORE', KEYS[2], chat) then count = count + 1 end
end
return { count, ended }
