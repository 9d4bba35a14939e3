-- archive_chat.lua - archives a chat of an account, or takes it out of the archive. A chat in no list does not change.
-- KEYS 1 chat_states:{u}  2 chats:{u}  3 chats_archived:{u}  4 chats_unread:{u}  5 chats_unread_muted:{u}  6 chat_mutes:{u}
-- ARGV 1 chat  2 newest row, or '' to take it out  3 1 if a text is unread  4 now, ms
-- Returns 1 | 0 the account has no such chat | -1 it is a request
local state = redis.call('HGET', KEYS[1], ARGV[1])
if not state then return 0 end
local version, list, activity, considered = string.match(state, '^(%d+) (%S) (%d+) %d+ (%d+)$')
if list == 'Q' then return -1 end
if list == '-' then return 1 end
local into = ARGV[2] ~= ''
if into and list ~= 'A' then
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[4], ARGV[1])
  redis.call('ZREM', KEYS[5], ARGV[1])
  redis.call('ZADD', KEYS[3], activity, ARGV[1])
elseif not into and list == 'A' then
  redis.call('ZREM', KEYS[3], ARGV[1])
  redis.call('ZADD', KEYS[2], activity, ARGV[1])
  if ARGV[3] == '1' then
    redis.call('ZADD', KEYS[4], activity, ARGV[1])
    local until_ms = redis.call('ZSCORE', KEYS[6], ARGV[1])
    if until_ms and tonumber(until_ms) > tonumber(ARGV[4]) then redis.call('ZADD', KEYS[5], activity, ARGV[1]) end
  end
end
redis.call('HSET', KEYS[1], ARGV[1], table.concat({ version, into and 'A' or 'I', activity, into and ARGV[2] or '0', considered }, ' '))
return 1
