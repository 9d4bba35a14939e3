-- walk_tree.lua - reads on in a thread, a comment before its replies, from a place on. Changes nothing.
-- KEYS 1 replies:{sid}:order
-- ARGV 1 1 when larger members come first | 0  2 bytes of a member's key  3 how many comments at most  4 how many levels
--      5 1 when the replies of the last place come next | 0  6… the place, level by level: key and id of each comment
-- Returns members, in reading order
local reverse, width, limit, levels = ARGV[1] == '1', tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local END = string.rep('\255', 12)
local lines, open = {}, {}

-- The comment that comes next under a parent; several are read at once, for those after it.
local function next_under(level)
  level.at = level.at + 1
  if not level.read[level.at] then
    if level.ended then return nil end
    local count = math.min(limit - #lines, 8)
    local behind = level.place and '(' .. level.parent .. level.place
    if reverse then
      level.read = redis.call('ZRANGE', KEYS[1], behind or '(' .. level.parent .. END, '(' .. level.parent, 'BYLEX', 'REV', 'LIMIT', 0, count)
    else
      level.read = redis.call('ZRANGE', KEYS[1], behind or '(' .. level.parent, '(' .. level.parent .. END, 'BYLEX', 'LIMIT', 0, count)
    end
    level.at, level.ended = 1, #level.read < count
  end
  local member = level.read[level.at]
  if member then level.place = string.sub(member, 8) end
  return member
end

local function begin(parent, place)
  table.insert(open, { parent = parent, place = place, read = {}, at = 0, ended = false })
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
