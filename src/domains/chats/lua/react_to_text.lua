-- react_to_text.lua - adds or removes a reaction to a text, or all reactions of an account.
-- KEYS those of chat.lua and, last, chat_reactions of the text, all of {c}
-- ARGV 1 first bucket, that of the text  2 number of the text  3 who reacts  4 `add`, `remove` or `purge`  5 id of the reaction  6 the most emoji  7 emoji
--   8 the most reactions, with those of former members
-- Returns {ok} | {ok, same} it was there before this step | {none} no such chat, member or text | {kind} the row is no text |
--   {waits} the member has not accepted | {limit} too many emoji | {full} too many reactions
local chat = fetch()
local me = chat and member(ARGV[3])
if ARGV[4] ~= 'purge' then
  if not is_shown(me) then return { 'none' } end
  if me.state == 'R' then return { 'waits' } end
end
local number = tonumber(ARGV[2])
-- A reaction of a deleted account is removed also where nobody can read the text any more.
local lowest = ARGV[4] == 'purge' and 0 or math.max(chat and chat.oldest or 0, me and me.first_readable or 0)
if not chat or number > chat.newest or number < lowest then return { 'none' } end
local row = redis.call('HGET', KEYS[ROWS], ARGV[2])
local letter = row and string.sub(row, 1, 1)
if not row or letter == 'D' then return { 'none' } end
if letter ~= 'T' then return { 'kind' } end
local head, reactions, text = string.match(row, '^(T %d+ %d+ %d+ %d+) (%S+) (.*)$')
local list = {}
for emoji, count in string.gmatch(reactions, '([^,]+):(%d+)') do table.insert(list, { emoji = emoji, count = tonumber(count) }) end
local function place(emoji)
  for at, it in ipairs(list) do
    if it.emoji == emoji then return at end
  end
end
local removed = {}
local function remove(emoji)
  local reaction, at = emoji .. ' ' .. ARGV[3], place(emoji)
  if not redis.call('ZSCORE', KEYS[ROWS + 1], reaction) then return end
  table.insert(removed, reaction)
  if at then
    list[at].count = list[at].count - 1
    if list[at].count <= 0 then table.remove(list, at) end
  end
end

local changed = false
if ARGV[4] == 'add' then
  local at = place(ARGV[7])
  if not at and #list >= tonumber(ARGV[6]) then return { 'limit' } end
  local had = redis.call('ZSCORE', KEYS[ROWS + 1], ARGV[7] .. ' ' .. ARGV[3])
  -- A step that was sent again finds its own reaction.
  if had and had ~= ARGV[5] then return { 'ok', 'same' } end
  changed = not had
  if changed then
    -- Reactions of members who have left stay.
    if redis.call('ZCARD', KEYS[ROWS + 1]) >= tonumber(ARGV[8]) then return { 'full' } end
    redis.call('ZADD', KEYS[ROWS + 1], ARGV[5], ARGV[7] .. ' ' .. ARGV[3])
    if at then
      list[at].count = list[at].count + 1
    else
      table.insert(list, { emoji = ARGV[7], count = 1 })
    end
  end
elseif ARGV[4] == 'remove' then
  remove(ARGV[7])
else
  for at = #list, 1, -1 do remove(list[at].emoji) end
end
if #removed > 0 then changed = redis.call('ZREM', KEYS[ROWS + 1], unpack(removed)) > 0 end
if changed then
  local parts = {}
  for _, it in ipairs(list) do table.insert(parts, it.emoji .. ':' .. int(it.count)) end
  row = head .. ' ' .. (#parts > 0 and table.concat(parts, ',') or '-') .. ' ' .. text
  redis.call('HSET', KEYS[ROWS], ARGV[2], row)
  if number == chat.newest then redis.call('HSET', KEYS[1], 'last', row) end
end
return { 'ok' }
