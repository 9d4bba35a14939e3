-- read_chat.lua - reads a chat as one of its members has it. Writes nothing.
-- KEYS the first ten of chat.lua, all of {c}
-- ARGV 1 first bucket, which is not used  2 member
-- Returns kind, name, history, newest row, oldest row, last row that retention has made unreadable, days or -, number of members, stored newest row or '',
--   membership, read position, delivery position, texts above the read position; of a direct chat: the other account and its membership, or '' |
--   false no such chat or member
local chat = fetch()
local me = chat and member(ARGV[2])
if not is_shown(me) then return false end
local seen = tonumber(redis.call('ZSCORE', KEYS[3], me.uid) or 0)
local count = texts_after(chat, me, seen)
local delivered = tonumber(redis.call('ZSCORE', KEYS[4], me.uid) or 0)
-- Rows beyond the maximum number are unreadable, too, though they are not deleted yet.
local taken = chat.oldest > chat.lowest and chat.oldest - 1 or chat.trimmed
local other = chat.kind == 'direct' and other_of(chat, me.uid) or '0'
return {
  chat.kind, chat.name, chat.history, int(chat.newest), int(chat.oldest), int(taken), chat.days, redis.call('HLEN', KEYS[2]),
  redis.call('HGET', KEYS[1], 'last') or '', redis.call('HGET', KEYS[2], me.uid), int(seen), int(math.max(seen, delivered)), int(count), other,
  redis.call('HGET', KEYS[2], other) or '',
}
