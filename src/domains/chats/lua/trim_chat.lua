-- trim_chat.lua - makes rows of a chat unreadable that retention does not keep: rows beyond the maximum number, and those that all members have seen
-- long enough ago. They are deleted after that.
-- KEYS the first ten of chat.lua, all of {c}
-- ARGV 1 first bucket, which is not used  2 the server's retention of seen rows in days, for a chat without one of its own; - for none
-- Returns {the retention fields of chat.lua, 1 if lists must be settled, since rows are unreadable that not all members have seen, else 0} |
--   {} no such chat
local chat = fetch()
if not chat then return {} end
local days, lowest, since = chat.days, chat.oldest, chat.since
if days == '-' then days = ARGV[2] end
if days == '0' then
  if chat.since > 0 then
    lowest, since = math.max(lowest, chat.seen + 1), 0
    redis.call('UNLINK', KEYS[9])
  end
elseif days ~= '-' then
  local before = NOW - tonumber(days) * 86400000
  local gone = redis.call('ZRANGE', KEYS[9], int(before), '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1)
  local next = redis.call('ZRANGE', KEYS[9], '(' .. int(before), '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  since = tonumber(next[2] or 0)
  if gone[1] then
    lowest = math.max(lowest, tonumber(gone[1]) + 1)
    redis.call('ZREMRANGEBYSCORE', KEYS[9], '-inf', int(before))
  end
end
-- The lists are settled once for rows that were made unreadable, also if the process ends before it has enqueued that.
local takes_unseen = lowest - 1 > chat.seen and lowest > chat.removed + 1
local is_unsettled = takes_unseen and (lowest > chat.lowest or chat.version > chat.settled)
if lowest > chat.lowest or since ~= chat.since then
  if lowest > chat.lowest then chat.trimmed = lowest - 1 end
  if lowest > chat.lowest and takes_unseen then chat.version = chat.version + 1 end
  chat.lowest, chat.since = lowest, since
  redis.call('HSET', KEYS[1], 'oldest', int(lowest), 'trimmed', int(chat.trimmed), 'since', int(since), 'version', int(chat.version))
end
return { retention_of(chat), is_unsettled and 1 or 0 }
