-- add_entry.lua - adds a reply to a conversation, once. The entry of the root is added with the first reply.
-- KEYS those of conversation.lua, all of {root}
-- ARGV 1 parent's id, 7 bytes  2 reply's id, 7 bytes  3 root's id, 7 bytes  4 the most statuses that are not deleted
-- Returns the depth | 0 the parent has no entry, or was deleted | -1 the limit is reached | -2 the reply was deleted; the parent's number of replies
local own = read(ARGV[2])
local parent = read(ARGV[1])
if own then return {own.deleted and -2 or own.depth, parent and parent.replies or 0} end
local living = tonumber(redis.call('HGET', KEYS[1], LIVING) or 1)
if not parent then
  if ARGV[1] ~= ARGV[3] then return {0, 0} end
  parent = { id = ARGV[3], parent = string.rep('\0', ID), depth = 0, replies = 0, children = 0, likes = 0, path = '' }
end
if parent.deleted then return {0, 0} end
if living >= tonumber(ARGV[4]) then return {-1, 0} end

-- List n of the new path is list n of the ancestor that is one unit (16^n) above, followed by this ancestor. If the depth of this ancestor is a
-- multiple of 16 units, the list has only this ancestor.
local function list_of(entry, unit)
  for _, list in ipairs(lists_of(entry)) do
    if list.unit == unit then return string.sub(entry.path, list.at, list.at + list.count * ID - 1) end
  end
end
local depth, unit, above, path = parent.depth + 1, 1, parent, ''
repeat
  local list = (above.depth % (WIDTH * unit) == 0 and '' or list_of(above, unit)) .. above.id
  path, unit = path .. list, WIDTH * unit
  above = depth % unit == 0 and read(string.sub(list, 1, ID))
until not above

local reply = { id = ARGV[2], parent = parent.id, depth = depth, replies = 0, children = 0, likes = 0, path = path }
parent.replies, parent.children = parent.replies + 1, parent.children + 1
write(parent)
write(reply)
redis.call('HSET', KEYS[1], LIVING, living + 1)
redis.call('ZADD', KEYS[2], 0, new_member(reply))
redis.call('ZADD', KEYS[3], 0, likes_member(reply, 0))
return {depth, parent.replies}
