-- append_chat_rows.lua - appends an event for the rows of a chat that were never appended, and one for each membership that has ended with one of them. A
-- repeated call appends nothing.
-- KEYS 1 stream:{n}, also the channel  2 told:{n}
-- ARGV 1 now, ms  2 chat  3 the most events  4 older events are trimmed, ms  5 the newest row  6 the row up to which all were published, or '' if unknown
--      7 when that row was read, ms  8… row, event of the membership that has ended with it, …
-- Returns the row up to which all are published | -1 the chat has to be read first, or again
local known = redis.call('HMGET', KEYS[2], 'c' .. ARGV[2], 'last', 'dropped')
local event = known[1] and redis.call('XRANGE', KEYS[1], known[1], known[1])[1]
local head = event and tonumber(string.match(event[2][6], '^%d+ (%d+)$'))
if not head then
  if ARGV[6] == '' then return -1 end
  -- Newer events were already trimmed: one of them may have had the rows.
  if known[3] and tonumber(string.match(known[3], '^%d+')) > tonumber(ARGV[7]) then return -1 end
  head = tonumber(ARGV[6])
end
local newest = tonumber(ARGV[5])
if newest <= head then return head end
local last = append(newest_id(known[2]), ARGV[1], 'c', ARGV[2], string.format('%.0f %.0f', head + 1, newest))
redis.call('HSET', KEYS[2], 'c' .. ARGV[2], last)
for at = 8, #ARGV, 2 do
  local row = tonumber(ARGV[at])
  if row > head and row <= newest then last = append(last, ARGV[1], 'cc', ARGV[2], ARGV[at + 1]) end
end
trim(ARGV[3], ARGV[4])
return newest
