-- walk_tree.lua - reads a thread in reading order, a comment before its replies, from a position on. Writes nothing.
-- KEYS 1 replies:{sid}:order
-- ARGV 1 1 if larger members come first | 0  2 bytes of a sort key  3 the most comments  4 the most levels
--      5 1 if the replies of the last position come next | 0  6… the position, level by level: sort key and id of each comment
-- Returns members, in reading order
local reverse, width, limit, levels = ARGV[1] == '1', tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local END = string.rep('\255', 12)
local lines, open = {}, {}

-- The next comment below a parent; several are read at once and kept for the next calls.
local function next_under(level)
  level.at = level.at + 1
  if not level.read[level.at] then
    if level.ended then return nil end
    local count = math.min(limit - #lines, 8)
    local after = level.position and '(' .. level.parent .. level.position
    if reverse then
      level.read = redis.call('ZRANGE', KEYS[1], after or '(' .. level.parent .. END, '(' .. level.parent, 'BYLEX', 'REV', 'LIMIT', 0, count)
    else
      level.read = redis.call('ZRANGE', KEYS[1], after or '(' .. level.parent, '(' .. level.parent .. END, 'BYLEX', 'LIMIT', 0, count)
    end
    level.at, level.ended = 1, #level.read < count
  end
  local member = level.read[level.at]
  if member then level.position = string.sub(member, 8) end
  return member
end

local function begin(parent, position)
  table.insert(open, { parent = parent, position = position, read = {}, at = 0, ended = false })
end

local parent = string.rep('\0', 7)
for at = 6, #ARGV do
  begin(parent, ARGV[at])
  parent = string.sub(ARGV[at], width + 1)
end
if ARGV[5] == '1' and #open < levels then begin(parent) end
while #lines < limit and #open > 0 do
  local member = next_under(open[#open])
  if not member then
    table.remove(open)
  else
    table.insert(lines, member)
    if #open < levels then begin(string.sub(member, width + 8)) end
  end
end
return lines
