-- mute_chat.lua - mutes a chat of an account, or ends its mute.
-- KEYS 1 chat_states:{u}  2 chats_unread:{u}  3 chats_unread_muted:{u}  4 chat_mutes:{u}
-- ARGV 1 chat  2 end of the mute in ms, or 0 to end it
-- Returns 1 | 0 the account has no such chat
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
if ARGV[2] == '0' then
  redis.call('ZREM', KEYS[4], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
  return 1
end
redis.call('ZADD', KEYS[4], ARGV[2], ARGV[1])
local unread = redis.call('ZSCORE', KEYS[2], ARGV[1])
if unread then redis.call('ZADD', KEYS[3], unread, ARGV[1]) end
return 1
