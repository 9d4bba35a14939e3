-- purge_rows.lua - removes the texts of a deleted account from a bucket of rows, and its id from other rows.
-- KEYS the first eleven of chat.lua, all of {c}
-- ARGV 1 bucket  2 account
-- Returns number and reactions of texts by others with reactions, and the numbers of deleted texts
local chat = fetch()
if not chat then return { {}, {} } end
local uid, reacted, deleted, members = ARGV[2], {}, {}, {}
local rows = redis.call('HGETALL', KEYS[ROWS])
for at = 1, #rows, 2 do
  local number, row = rows[at], rows[at + 1]
  local letter, by, sent, rest = string.match(row, '^(%u) (%d+) (%d+) ?(.*)$')
  local changed = row
  if by == uid then
    if letter == 'T' then
      table.insert(deleted, number)
      redis.call('SETBIT', KEYS[5], bit_of(chat, number), 0)
      table.insert(members, bytes(uid) .. bytes(number))
      changed = 'D 0 ' .. sent
    else
      changed = letter .. ' 0 ' .. sent .. (rest ~= '' and ' ' .. rest or '')
    end
  elseif letter == 'D' and by == '0' then
    -- An earlier run may have ended before the reactions were deleted.
    table.insert(deleted, number)
  elseif letter == 'T' and not string.match(rest, '^%d+ %d+ %- ') then
    table.insert(reacted, number)
    table.insert(reacted, string.match(rest, '^%d+ %d+ (%S+) '))
  end
  if letter ~= 'T' and letter ~= 'D' and letter ~= 'N' then
    local subject, tail = string.match(rest, '^(%d+)(.*)$')
    if subject == uid then changed = letter .. ' ' .. (by == uid and '0' or by) .. ' ' .. sent .. ' 0' .. tail end
  end
  if changed ~= row then
    redis.call('HSET', KEYS[ROWS], number, changed)
    if tonumber(number) == chat.newest then redis.call('HSET', KEYS[1], 'last', changed) end
  end
end
if #members > 0 then redis.call('ZREM', KEYS[7], unpack(members)) end
return { reacted, deleted }
