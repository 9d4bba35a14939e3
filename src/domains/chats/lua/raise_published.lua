-- raise_published.lua - raises the row up to which all events of a chat were published, and removes memberships that have ended up to that row. Changes
-- nothing if the chat has lost one of two rows that were published: it may have given their numbers to new rows, which were not published.
-- KEYS 1 chat:{c}  2 chat_sent:{c}
-- ARGV 1 row  2 memberships that have ended since this time are kept, ms  3 id of the row, or '' if unknown  4 another row that was published  5 its id, or ''
-- Returns 1 | 0 no such chat | -1 the chat has lost the row | -2 the chat has lost the other row
local it = redis.call('HMGET', KEYS[1], 'kind', 'published', 'ends', 'newest', 'gone', 'recent')
if not it[1] then return 0 end
-- The end of the chat has the number after the newest row, and no row; its id is `gone`.
local newest = tonumber(it[4]) + (it[5] and 1 or 0)

-- Rows were committed before they were published, and the id of a step is never above those of its rows. So a row is another one than the published one if
-- its step has a higher id.
local function is_lost(number, id)
  local row = tonumber(number)
  if row > newest then return true end
  if id == '' then return false end
  -- The first word is the id of the newest row.
  if row == newest and not it[5] and it[6] then return string.match(it[6], '^%d+') ~= id end
  local step = it[5]
  if not step or row < newest then step = redis.call('ZRANGE', KEYS[2], number, 0, 'BYSCORE', 'REV', 'LIMIT', 0, 1)[1] end
  return step and tonumber(step) > tonumber(id)
end

if is_lost(ARGV[1], ARGV[3]) then return -1 end
if is_lost(ARGV[4], ARGV[5]) then return -2 end
local row = math.max(tonumber(ARGV[1]), tonumber(it[2] or 0))
redis.call('HSET', KEYS[1], 'published', string.format('%.0f', row))
if it[3] then
  local rest = {}
  for ended in string.gmatch(it[3], '[^,]+') do
    local at, time = string.match(ended, '^(%d+) .* (%d+)$')
    if tonumber(at) > row or tonumber(time) >= tonumber(ARGV[2]) then table.insert(rest, ended) end
  end
  if #rest > 0 then redis.call('HSET', KEYS[1], 'ends', table.concat(rest, ',')) else redis.call('HDEL', KEYS[1], 'ends') end
end
return 1
