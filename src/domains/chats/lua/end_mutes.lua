-- end_mutes.lua - removes mutes of chats that have ended.
-- KEYS 1 chats_unread_muted:{u}  2 chat_mutes:{u}
-- ARGV 1 now, ms  2… chats
-- Returns the number of removed mutes
local ended = {}
for at = 2, #ARGV do
  local until_ms = redis.call('ZSCORE', KEYS[2], ARGV[at])
  if until_ms and tonumber(until_ms) <= tonumber(ARGV[1]) then table.insert(ended, ARGV[at]) end
end
if #ended == 0 then return 0 end
redis.call('ZREM', KEYS[1], unpack(ended))
return redis.call('ZREM', KEYS[2], unpack(ended))
