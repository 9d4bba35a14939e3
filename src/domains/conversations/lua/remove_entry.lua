-- remove_entry.lua - marks the status of an entry as deleted, and removes the entry if no entry is below it; then, upwards, the entries of deleted
-- statuses that have no other entry below them. A conversation without replies is removed as a whole.
-- KEYS those of conversation.lua, all of {root}
-- ARGV 1 status's id, 7 bytes  2 the most entries that are removed
-- Returns the entry where the next call continues, as a number of 7 bytes | false nothing is left to do
local entry = read(ARGV[1])
if not entry then return false end
local changed = {}
local function parent_of(it)
  local parent = changed[it.parent] or read(it.parent)
  if parent then changed[it.parent] = parent end
  return parent
end
local living
if not entry.deleted then
  entry.deleted = true
  living = tonumber(redis.call('HGET', KEYS[1], LIVING) or 1) - 1
  changed[entry.id] = entry
  local parent = entry.depth > 0 and parent_of(entry)
  if parent then parent.replies = math.max(parent.replies - 1, 0) end
end

local removed, at = {}, entry
while at and at.depth > 0 and at.deleted and at.children == 0 and #removed < tonumber(ARGV[2]) do
  local parent = parent_of(at)
  table.insert(removed, at)
  if parent then parent.children = math.max(parent.children - 1, 0) end
  at = parent
end
if at and at.depth == 0 and at.children == 0 then
  redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
  return false
end
for _, it in ipairs(removed) do changed[it.id] = nil end
for _, it in pairs(changed) do write(it) end
if living then redis.call('HSET', KEYS[1], LIVING, living) end
if #removed > 0 then
  local ids, new, likes = {}, {}, {}
  for _, it in ipairs(removed) do
    table.insert(ids, it.id)
    table.insert(new, new_member(it))
    table.insert(likes, likes_member(it, it.likes))
  end
  redis.call('HDEL', KEYS[1], unpack(ids))
  redis.call('ZREM', KEYS[2], unpack(new))
  redis.call('ZREM', KEYS[3], unpack(likes))
end
return at and at.depth > 0 and at.deleted and at.children == 0 and at.id or false
