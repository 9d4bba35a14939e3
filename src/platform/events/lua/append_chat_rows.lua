-- append_chat_rows.lua - appends an event for the rows of a chat that were never appended, and one for each membership that has ended with one of them. A
-- repeated call appends nothing. If the chat has lost rows, and has given their numbers to new ones, the rows with these numbers are appended again.
-- KEYS 1 stream:{n}, also the channel  2 told:{n}
-- ARGV 1 now, ms  2 chat  3 the most events  4 older events are trimmed, ms  5 the newest row  6 its id, or '' if unknown  7 the row up to which all were
--      published, or '' if unknown  8 when that row was read, ms  9 and 10 a row that was published before the chat has lost it, and its id, or '' and ''
--      11… row, event of the membership that has ended with it, …
-- Returns {row up to which all are published, its id or '', last row of an event, its id or ''} | {} the chat has to be read first, or again
-- The last two are of the event before the appended one, or without one, of the event that has the newest row: the caller compares them with the chat.
-- The field `h` of a chat has the last rows of its newest events and their ids, the newest first, in descending order.
local MOST_HEADS = 8
local function int(number) return string.format('%.0f', number) end
local known = redis.call('HMGET', KEYS[2], 'c' .. ARGV[2], 'last', 'dropped', 'h' .. ARGV[2])
local event = known[1] and redis.call('XRANGE', KEYS[1], known[1], known[1])[1]
local head = event and tonumber(string.match(event[2][6], '^%d+ (%d+)$'))
if not head then
  if ARGV[7] == '' then return {} end
  -- Newer events were already trimmed: one of them may have had the rows.
  if known[3] and tonumber(string.match(known[3], '^%d+')) > tonumber(ARGV[8]) then return {} end
  head = tonumber(ARGV[7])
end
local heads = {}
for row, id in string.gmatch(known[4] or '', '(%d+) (%d+)') do table.insert(heads, { row = tonumber(row), id = id }) end
local function id_of(row)
  for _, it in ipairs(heads) do
    if it.row == row then return it.id end
  end
  return ''
end
-- The head is lowered only while the log has the lost row: another process may have appended the new rows since.
local lost = tonumber(ARGV[9])
if lost and id_of(lost) == ARGV[10] and (ARGV[10] ~= '' or lost == head) then
  -- All rows of the lost event are appended again: another process may have raised the published row above new rows that have their numbers.
  local before = lost - 1
  for _, it in ipairs(heads) do
    if it.row < lost then
      before = it.row
      break
    end
  end
  head = math.min(head, tonumber(ARGV[7]), before)
end
local newest = tonumber(ARGV[5])
if newest <= head then
  local holder = head
  for _, it in ipairs(heads) do
    if it.row >= newest and it.row <= head then holder = it.row end
  end
  return { int(head), id_of(head), int(holder), id_of(holder) }
end
local last = append(newest_id(known[2]), ARGV[1], 'c', ARGV[2], int(head + 1) .. ' ' .. int(newest))
local words = {}
if ARGV[6] ~= '' then table.insert(words, int(newest) .. ' ' .. ARGV[6]) end
for _, it in ipairs(heads) do
  if it.row <= head and #words < MOST_HEADS then table.insert(words, int(it.row) .. ' ' .. it.id) end
end
redis.call('HSET', KEYS[2], 'c' .. ARGV[2], last, 'h' .. ARGV[2], table.concat(words, ' '))
for at = 11, #ARGV, 2 do
  local row = tonumber(ARGV[at])
  if row > head and row <= newest then last = append(last, ARGV[1], 'cc', ARGV[2], ARGV[at + 1]) end
end
trim(ARGV[3], ARGV[4])
return { int(newest), ARGV[6], int(head), id_of(head) }
