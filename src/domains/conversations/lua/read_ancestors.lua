-- read_ancestors.lua - reads ancestors of an entry. Writes nothing.
-- KEYS those of conversation.lua, all of {root}
-- ARGV 1 id of the entry, 7 bytes  2 depth of the first ancestor  3 depth after the last one
-- Returns id, entry, … from the first ancestor on | false there is no such entry
local entry, from = read(ARGV[1]), tonumber(ARGV[2])
if not entry then return false end
local to = math.min(tonumber(ARGV[3]), entry.depth)
if from >= to then return {} end

-- Goes up to an entry whose list 0 has the last requested ancestor. Each step goes to the ancestor in the path with the smallest depth from `to` on.
local lists = lists_of(entry)
while entry and lists[1].first >= to do
  local depth, id = entry.depth, nil
  for _, list in ipairs(lists) do
    local index = math.max(0, math.ceil((to - list.first) / list.unit))
    if index < list.count and list.first + index * list.unit < depth then
      depth, id = list.first + index * list.unit, id_at(entry, list, index)
    end
  end
  entry = id and read(id)
  lists = entry and lists_of(entry)
end

local ids = {}
while entry do
  local list = lists[1]
  for index = math.min(list.count, to - list.first) - 1, math.max(0, from - list.first), -1 do
    table.insert(ids, 1, id_at(entry, list, index))
  end
  if list.first <= from then break end
  to = list.first
  entry = read(id_at(entry, list, 0))
  lists = entry and lists_of(entry)
end
local found = {}
for at, record in ipairs(redis.call('HMGET', KEYS[1], unpack(ids))) do
  table.insert(found, ids[at])
  table.insert(found, record)
end
return found
