-- change_text.lua - edits or deletes a text.
-- KEYS those of chat.lua and, last, chat_reactions of the text, all of {c}
-- ARGV 1 first bucket, that of the text  2 number of the text  3 who changes it  4 `edit` or `delete`  5 now, ms  6 new text
-- Returns the chat snapshot of chat.lua after `ok` and 1 if it was changed, else 0 | {none} no such chat, member or text | {kind} the row is no text |
--   {forbidden}
local chat = fetch()
local me = chat and member(ARGV[3])
if not is_shown(me) then return { 'none' } end
local number = tonumber(ARGV[2])
if number < math.max(me.first_readable, chat.oldest) or number > chat.newest then return { 'none' } end
local row = redis.call('HGET', KEYS[ROWS], ARGV[2])
local letter = row and string.sub(row, 1, 1)
if not row or letter == 'D' then return { 'none' } end
if letter ~= 'T' then return { 'kind' } end
local by, sent, reply, edited, reactions, text = string.match(row, '^T (%d+) (%d+) (%d+) (%d+) (%S+) (.*)$')
local may = by == me.uid or (ARGV[4] == 'delete' and chat.kind == 'group' and me.role ~= 'M')
if not may then return { 'forbidden' } end
-- An edit that is there already, with the same time, is that of an earlier call whose reply was lost: its event has to be published.
local changed = ARGV[4] == 'delete' or text ~= ARGV[6] or edited == ARGV[5]
if changed then
  if ARGV[4] == 'delete' then
    row = 'D ' .. by .. ' ' .. sent
    redis.call('SETBIT', KEYS[5], bit_of(chat, number), 0)
    if chat.kind == 'group' then
      redis.call('ZREM', KEYS[7], bytes(by) .. bytes(number))
      if redis.call('HINCRBY', KEYS[8], by, -1) <= 0 then redis.call('HDEL', KEYS[8], by) end
    end
    redis.call('UNLINK', KEYS[ROWS + 1])
  else
    row = table.concat({ 'T', by, sent, reply, ARGV[5], reactions, ARGV[6] }, ' ')
  end
  redis.call('HSET', KEYS[ROWS], ARGV[2], row)
  if number == chat.newest then chat.last = row end
  finish(chat)
end
return snapshot(chat, affected_members(chat, me.uid), changed and 1 or 0)
