-- conversation.lua - the prelude of scripts over a conversation. Ids have 7 bytes.
-- KEYS 1 conversation:{root}  2 conversation_new:{root}  3 conversation_likes:{root}
-- ARGV those of the script
-- Returns nothing by itself
-- An entry is stored as: 1 if its status is deleted (1 byte)  parent (7)  depth (4)  replies (4)  entries directly below (4)  likes (4)  path.
-- The path has lists of ancestors (7 bytes each). List 0 has the ancestors from the last multiple of 16 before the entry's depth on. An entry whose
-- depth is a multiple of 16^n also has list n: ancestors whose depths are multiples of 16^n, from the last multiple of 16^(n+1) before the entry's
-- depth on. So an ancestor at any depth is found in a number of steps that grows with the logarithm of the depth.
local FORMAT, FIXED, ID, WIDTH = '>Bc7I4I4I4I4', 24, 7, 16
-- The field with the number of statuses of the conversation that are not deleted.
local LIVING = 'living'

local function parse(id, record)
  local entry = { id = id, path = string.sub(record, FIXED + 1) }
  local deleted
  deleted, entry.parent, entry.depth, entry.replies, entry.children, entry.likes = struct.unpack(FORMAT, record)
  entry.deleted = deleted == 1
  return entry
end

local function read(id)
  local record = redis.call('HGET', KEYS[1], id)
  return record and parse(id, record)
end

local function write(entry)
  local fixed =
    struct.pack(FORMAT, entry.deleted and 1 or 0, entry.parent, entry.depth, entry.replies, entry.children, entry.likes)
  redis.call('HSET', KEYS[1], entry.id, fixed .. entry.path)
end

-- The lists of a path: unit, depth of the first ancestor, number of ancestors, and where the list begins.
local function lists_of(entry)
  local lists, unit, at = {}, 1, 1
  while entry.depth > 0 do
    local count = entry.depth / unit % WIDTH
    if count == 0 then count = WIDTH end
    table.insert(lists, { unit = unit, first = entry.depth - count * unit, count = count, at = at })
    if count < WIDTH then break end
    unit, at = unit * WIDTH, at + count * ID
  end
  return lists
end

local function id_at(entry, list, index)
  local at = list.at + index * ID
  return string.sub(entry.path, at, at + ID - 1)
end

local function new_member(entry) return entry.parent .. entry.id end
local function likes_member(entry, likes) return entry.parent .. struct.pack('>I4', likes) .. entry.id end
