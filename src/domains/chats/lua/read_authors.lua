-- read_authors.lua - reads who wrote the newest rows whose ids are stored. Writes nothing.
-- KEYS 1 chat_sent:{c}  2… chat_rows:{c}: buckets of 128 rows, the first of which ARGV 1 names
-- ARGV 1 first bucket  2 the most rows
-- Returns for each, the newest first: id, number, letter and sender
local found = {}
local ids = redis.call('ZRANGE', KEYS[1], 0, ARGV[2] - 1, 'REV', 'WITHSCORES')
for at = 1, #ids, 2 do
  local place = math.floor(tonumber(ids[at + 1]) / 128) - tonumber(ARGV[1])
  local row = place >= 0 and KEYS[2 + place] and redis.call('HGET', KEYS[2 + place], ids[at + 1])
  local letter, by = string.match(row or '', '^(%u) (%d+)')
  if letter then
    for _, word in ipairs({ ids[at], ids[at + 1], letter, by }) do table.insert(found, word) end
  end
end
return found
