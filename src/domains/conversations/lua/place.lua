-- place.lua - the prelude of scripts over a conversation. Ids have 7 bytes.
-- KEYS 1 conversation:{root}  2 conversation_new:{root}  3 conversation_likes:{root}
-- ARGV those of the script
-- Returns nothing by itself
-- A place is stored as: 1 if its status is deleted (1 byte)  parent (7)  depth (4)  replies (4)  places directly below (4)  likes (4)  path.
-- The path has lists of ancestors (7 bytes each). List 0 has those from the last depth before this one that is a multiple of 16. A place whose depth is a
-- multiple of 16^n also has list n: ancestors whose depths are multiples of 16^n, from the last multiple of 16^(n+1) before this one. So an ancestor at
-- any depth is found in a number of steps that grows with the logarithm of the depth.
local FORMAT, FIXED, ID, WIDTH = '>Bc7I4I4I4I4', 24, 7, 16
local LIVING = 'living'

local function parse(id, record)
  local place = { id = id, path = string.sub(record, FIXED + 1) }
  local deleted
  deleted, place.parent, place.depth, place.replies, place.places, place.likes = struct.unpack(FORMAT, record)
  place.deleted = deleted == 1
  return place
end

local function read(id)
  local record = redis.call('HGET', KEYS[1], id)
  return record and parse(id, record)
end

local function write(place)
  local fixed =
    struct.pack(FORMAT, place.deleted and 1 or 0, place.parent, place.depth, place.replies, place.places, place.likes)
  redis.call('HSET', KEYS[1], place.id, fixed .. place.path)
end

-- The lists of a path: unit, depth of the first ancestor, number of ancestors, and where the list begins.
local function lists_of(place)
  local lists, unit, at = {}, 1, 1
  while place.depth > 0 do
    local count = place.depth / unit % WIDTH
    if count == 0 then count = WIDTH end
    table.insert(lists, { unit = unit, first = place.depth - count * unit, count = count, at = at })
    if count < WIDTH then break end
    unit, at = unit * WIDTH, at + count * ID
  end
  return lists
end

local function id_at(place, list, index)
  local at = list.at + index * ID
  return string.sub(place.path, at, at + ID - 1)
end

local function new_member(place) return place.parent .. place.id end
local function likes_member(place, likes) return place.parent .. struct.pack('>I4', likes) .. place.id end
