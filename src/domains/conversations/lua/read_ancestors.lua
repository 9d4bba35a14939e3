-- read_ancestors.lua - reads ancestors of a place. Writes nothing.
-- KEYS those of place.lua, all of {root}
-- ARGV 1 id of the place, 7 bytes  2 depth of the first ancestor  3 depth after the last one
-- Returns id, place, … from the first one on | false there is no such place
local place, from = read(ARGV[1]), tonumber(ARGV[2])
if not place then return false end
local to = math.min(tonumber(ARGV[3]), place.depth)
if from >= to then return {} end

-- Up to a place whose nearest ancestors include the last one: each step goes to the ancestor nearest to that one which the path names.
local lists = lists_of(place)
while place and lists[1].first >= to do
  local depth, id = place.depth, nil
  for _, list in ipairs(lists) do
    local index = math.max(0, math.ceil((to - list.first) / list.unit))
    if index < list.count and list.first + index * list.unit < depth then
      depth, id = list.first + index * list.unit, id_at(place, list, index)
    end
  end
  place = id and read(id)
  lists = place and lists_of(place)
end

local ids = {}
while place do
  local list = lists[1]
  for index = math.min(list.count, to - list.first) - 1, math.max(0, from - list.first), -1 do
    table.insert(ids, 1, id_at(place, list, index))
  end
  if list.first <= from then break end
  to = list.first
  place = read(id_at(place, list, 0))
  lists = place and lists_of(place)
end
local found = {}
for at, record in ipairs(redis.call('HMGET', KEYS[1], unpack(ids))) do
  table.insert(found, ids[at])
  table.insert(found, record)
end
return found
