-- settle_chat.lua - updates the chat lists of an account to a version of a chat. If the lists already have a later version, only the activity is raised.
-- KEYS 1 chat_states:{u}  2 chats:{u}  3 chats_archived:{u}  4 chat_requests:{u}  5 chats_unread:{u}  6 chats_unread_muted:{u}  7 chat_mutes:{u}
--   8 chats_former:{u}  9 user:{u}
-- ARGV 1 chat  2 version  3 state of the membership, or G without one  4 activity of joining or starting  5 1 if a text is unread  6 activity above which
--   it is listed, or 0  7 newest text by others  8 newest own text  9 now, ms  10 the most requests  11 1 if the chat contains the account's id
--   12 newest row that is not hidden, or 0  13 newest row, or 0 if no row is to be considered  14 its number
-- Returns {1, chats to decline…} | {0} stale version | {2} stale version, but the activity was raised: settle the chat again | {-1} no such account
-- The state of a chat is `version list activity archived-at considered`: I inbox, A archive, Q requests, - none; the newest row when it was archived; the
-- newest row that was considered: a row that was hidden then is no activity when the block has ended.
if redis.call('EXISTS', KEYS[9]) == 0 then return { -1 } end
local chat, version = ARGV[1], tonumber(ARGV[2])
local row, newest = tonumber(ARGV[12]), tonumber(ARGV[13])
local old_version, old_list, old_activity, archived, considered = 0, '-', 0, '0', 0
local state = redis.call('HGET', KEYS[1], chat)
if state then
  local parts = { string.match(state, '^(%d+) (%S) (%d+) (%d+) (%d+)$') }
  old_version, old_list, old_activity, archived, considered = tonumber(parts[1]), parts[2], tonumber(parts[3]), parts[4], tonumber(parts[5])
else
  old_version = tonumber(redis.call('ZSCORE', KEYS[8], chat) or 0)
end
local is_shown = ARGV[3] == 'A' or ARGV[3] == 'R'
local activity = old_activity
if is_shown and row > considered then activity = math.max(activity, row) end
local function write(of_version, list)
  local words = { of_version, list, string.format('%.0f', activity), archived, string.format('%.0f', math.max(considered, newest)) }
  redis.call('HSET', KEYS[1], chat, table.concat(words, ' '))
end
if old_version > version then
  if not state or activity == old_activity then return { 0 } end
  write(string.format('%.0f', old_version), old_list)
  local score = string.format('%.0f', activity)
  redis.call('ZADD', KEYS[2], 'XX', score, chat)
  redis.call('ZADD', KEYS[3], 'XX', score, chat)
  redis.call('ZADD', KEYS[4], 'XX', score, chat)
  redis.call('ZADD', KEYS[5], 'XX', score, chat)
  redis.call('ZADD', KEYS[6], 'XX', score, chat)
  return { (old_list == '-' or old_list == 'A') and 2 or 0 }
end

-- A script must not access a key again after it may have emptied it (`db/script.rs`). With `stays`, the chat is in this list already and in no other one.
local function place(list, unread, muted, stays)
  local score = string.format('%.0f', activity)
  for at, of in ipairs({ 'I', 'A', 'Q' }) do
    if list == of then
      redis.call('ZADD', KEYS[1 + at], score, chat)
    elseif not stays then
      redis.call('ZREM', KEYS[1 + at], chat)
    end
  end
  if unread then redis.call('ZADD', KEYS[5], score, chat) else redis.call('ZREM', KEYS[5], chat) end
  -- Without a record of a mute, an unread chat is not among the muted ones.
  if muted == nil and stays then return end
  if unread and muted then redis.call('ZADD', KEYS[6], score, chat) else redis.call('ZREM', KEYS[6], chat) end
end
if not is_shown then
  place('-')
  redis.call('HDEL', KEYS[1], chat)
  redis.call('ZREM', KEYS[7], chat)
  if ARGV[11] == '1' then redis.call('ZADD', KEYS[8], ARGV[2], chat) else redis.call('ZREM', KEYS[8], chat) end
  return { 1 }
end

activity = math.max(activity, tonumber(ARGV[4]))
local until_ms = redis.call('ZSCORE', KEYS[7], chat)
local muted = nil
if until_ms then muted = tonumber(until_ms) > tonumber(ARGV[9]) end
local cleared = tonumber(ARGV[6])
local list = 'I'
if ARGV[3] == 'R' then
  list = 'Q'
elseif cleared > 0 and activity <= cleared then
  list = '-'
elseif old_list == 'A' then
  local since = tonumber(archived)
  if tonumber(ARGV[8]) <= since and (muted or tonumber(ARGV[7]) <= since) then list = 'A' end
  -- A row that was considered once moves the chat to the inbox then, or never.
  if list == 'A' and newest > 0 and tonumber(ARGV[14]) > since then archived = ARGV[14] end
end
local unread = list == 'I' and ARGV[5] == '1'
-- A new row leaves most chats in their list. Without a new row, all keys are written: a repair settles lists again at the same row.
local stays = state and list == old_list and newest > considered
place(list, unread, muted, stays)
write(ARGV[2], list)
if not stays then redis.call('ZREM', KEYS[8], chat) end
local result = { 1 }
if list == 'Q' then
  local over = redis.call('ZCARD', KEYS[4]) - tonumber(ARGV[10])
  if over > 0 then
    for _, oldest in ipairs(redis.call('ZRANGE', KEYS[4], 0, math.min(over, 10) - 1)) do table.insert(result, oldest) end
  end
end
return result
