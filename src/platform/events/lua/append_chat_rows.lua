-- append_chat_rows.lua - appends an event for the rows of a chat that were never appended. A repeated call appends nothing.
-- KEYS 1 stream:{n}, also the channel  2 told:{n}
-- ARGV 1 now, ms  2 chat  3 the most events  4 older events are trimmed, ms  5 the newest row  6 the row up to which all were published, or '' if unknown
--      7 when that row was read, ms
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
local last = newest_id(known[2])
local id, range = next_id(last, ARGV[1]), string.format('%.0f %.0f', head + 1, newest)
redis.call('XADD', KEYS[1], id, 'k', 'c', 's', ARGV[2], 'm', range)
redis.call('HSET', KEYS[2], 'c' .. ARGV[2], id, 'last', id)
trim(ARGV[3], ARGV[4])
publish(id, last, 'c', ARGV[2], range)
return newest
