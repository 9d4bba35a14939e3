-- read_chat.lua - reads a chat as some of its members have it. Writes nothing.
-- KEYS the first ten of chat.lua, all of {c}
-- ARGV 1 first bucket, which is not used  2… accounts
-- Returns kind, name, history, newest row, oldest row, last row that retention has made unreadable, days or -, number of members, stored newest row or '';
--   then for each account: membership, or '' if the chat does not exist for it, read position, delivery position, texts above the read position; of a direct
--   chat: the other account and its membership, or '' | false no such chat
local chat = fetch()
if not chat then return false end
local uids = { unpack(ARGV, 2) }
-- Rows beyond the maximum number are unreadable, too, though they are not deleted yet.
local taken = chat.oldest > chat.lowest and chat.oldest - 1 or chat.trimmed
local found = {
  chat.kind, chat.name, chat.history, int(chat.newest), int(chat.oldest), int(taken), chat.days, redis.call('HLEN', KEYS[2]),
  redis.call('HGET', KEYS[1], 'last') or '',
}
local records = redis.call('HMGET', KEYS[2], unpack(uids))
local positions, delivered = redis.call('ZMSCORE', KEYS[3], unpack(uids)), redis.call('ZMSCORE', KEYS[4], unpack(uids))
for at, uid in ipairs(uids) do
  local me = records[at] and parse(uid, records[at])
  if is_shown(me) then
    local seen, other = tonumber(positions[at] or 0), chat.kind == 'direct' and other_of(chat, uid) or '0'
    table.insert(found, me.record)
    table.insert(found, int(seen))
    table.insert(found, int(math.max(seen, tonumber(delivered[at] or 0))))
    table.insert(found, int(texts_after(chat, me, seen)))
    table.insert(found, other)
    table.insert(found, chat.kind == 'direct' and redis.call('HGET', KEYS[2], other) or '')
  else
    for _ = 1, 6 do table.insert(found, '') end
  end
end
return found
