-- remove_rows.lua - deletes rows of one bucket that cannot be read any more, the lowest of the chat, with their reactions and authors.
-- KEYS the first eleven of chat.lua and chat_reactions of each row that its bucket can have, in their order, all of {c}
-- ARGV 1 bucket  2 first row  3 last row
-- Returns 1 | 0 no such chat, or they are not the lowest ones that cannot be read
local chat = fetch()
local from, to = tonumber(ARGV[2]), tonumber(ARGV[3])
if not chat or from ~= math.max(chat.removed + 1, 1) or to < from or to >= chat.lowest then return 0 end
local numbers = {}
for number = from, to do table.insert(numbers, int(number)) end
local members, counts = {}, {}
for at, row in ipairs(redis.call('HMGET', KEYS[ROWS], unpack(numbers))) do
  local by, reactions = string.match(row or '', '^T (%d+) %d+ %d+ %d+ (%S+) ')
  if by then
    table.insert(members, bytes(by) .. bytes(numbers[at]))
    counts[by] = (counts[by] or 0) + 1
    if reactions ~= '-' then redis.call('UNLINK', KEYS[ROWS + 1 + (from + at - 1) % ROWS_PER_BUCKET]) end
  end
end
if chat.kind == 'group' and #members > 0 then
  redis.call('ZREM', KEYS[7], unpack(members))
  for by, count in pairs(counts) do
    if redis.call('HINCRBY', KEYS[8], by, -count) <= 0 then redis.call('HDEL', KEYS[8], by) end
  end
end
if to % ROWS_PER_BUCKET == ROWS_PER_BUCKET - 1 or to == chat.newest then
  redis.call('UNLINK', KEYS[ROWS])
else
  redis.call('HDEL', KEYS[ROWS], unpack(numbers))
end

-- The bits of deleted rows are cut off, a KiB at a time.
local bytes_gone = math.floor((to + 1 - chat.first_bit) / 8)
if to == chat.newest then
  redis.call('UNLINK', KEYS[5])
  chat.first_bit = chat.first_bit + bytes_gone * 8
elseif bytes_gone >= 1024 then
  redis.call('SET', KEYS[5], redis.call('GETRANGE', KEYS[5], bytes_gone, -1))
  chat.first_bit = chat.first_bit + bytes_gone * 8
end
redis.call('HSET', KEYS[1], 'removed', int(to), 'first_bit', int(chat.first_bit))
if to == chat.newest then redis.call('HDEL', KEYS[1], 'last') end
return 1
