-- thread.lua - the prelude of the scripts that change a thread. Their keys are these.
-- KEYS 1 status:{sid}  2 gone:{sid}  3 thread:{sid}  4 discussion:{sid}, also the channel  5 pending:{sid}
--      6 replies:{sid}:new  7 replies:{sid}:top  8 replies:{sid}:talk  9 replies:{sid}:split  10 erased:{sid}  11 fallen:{sid}
--      12 comment:{sid}:cid  13 votes:{sid}:cid  14… comment:{sid}:cid of every ancestor, the top one first
-- ARGV 1 ids of the ancestors, 7 bytes each  2 the comment's id, 7 bytes  3 the same as a number  4 now, ms  5 how long events are kept, ms
--      6 the most events in the log
-- Returns nothing by itself
-- The number of keys before those of the ancestors.
local OWN_KEYS = 13
local DEPTH = #KEYS - OWN_KEYS

-- The id of the ancestor at this depth, from 1 on; zeros for the status.
local function ancestor(depth)
  if depth == 0 then return string.rep('\0', 7) end
  return string.sub(ARGV[1], 7 * depth - 6, 7 * depth)
end

-- Whether the comment can be changed: its status and all ancestors exist. Nothing can be added to a deleted branch.
local function is_attached()
  if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('EXISTS', KEYS[2]) == 1 then return false end
  for at = OWN_KEYS + 1, #KEYS do
    if redis.call('EXISTS', KEYS[at]) == 0 then return false end
  end
  return true
end

-- A number as a sort key: 4 bytes, saturated.
local function encode_key(number)
  return struct.pack('>I4', math.max(0, math.min(4294967295, number)))
end

local function score_key(up, down)
  return encode_key(up - down + 2147483648)
end

local function controversy_key(up, down)
  if up == 0 or down == 0 then return encode_key(0) end
  return encode_key(math.floor((up + down) ^ (math.min(up, down) / math.max(up, down)) * 1000))
end

-- The member of a comment in the order of each key from 6 on.
local function members(parent, id, up, down, replies)
  up, down, replies = tonumber(up), tonumber(down), tonumber(replies)
  return { parent .. id, parent .. score_key(up, down) .. id, parent .. encode_key(replies) .. id, parent .. controversy_key(up, down) .. id }
end

-- Moves a comment within one order. Adds the new member first: an empty set would be deleted.
local function move(at, before, after)
  if before == after then return end
  redis.call('ZADD', KEYS[at], 0, after)
  redis.call('ZREM', KEYS[at], before)
end

-- Adds `by` comments of `uid`, or removes them if `by` is negative, in the counts of the status and of all ancestors.
local function add_to_counts(by, uid)
  redis.call('HINCRBY', KEYS[1], 'comments', by)
  for at = OWN_KEYS + 1, #KEYS do
    local author = redis.call('HGET', KEYS[at], 'uid')
    redis.call('HINCRBY', KEYS[at], 'descendants', by)
    if author and author ~= uid then redis.call('HINCRBY', KEYS[at], 'others', by) end
  end
end

-- Adds one direct reply to the parent's count, or removes one.
local function add_to_replies(by)
  if DEPTH == 0 then return end
  local replies = redis.call('HINCRBY', KEYS[#KEYS], 'replies', by)
  local parent, id = ancestor(DEPTH - 1), ancestor(DEPTH)
  move(8, parent .. encode_key(replies - by) .. id, parent .. encode_key(replies) .. id)
end

-- Removes the comment from the thread, with deleted ancestors that were kept for it alone; they are remembered as deleted. The caller must not access
-- their keys afterwards. ARGV 7 how long they are remembered, ms  8 how many
local function remove_from_thread()
  local removed, deleted = { {}, {}, {}, {} }, {}
  local function collect(at, parent, id)
    local fields = redis.call('HMGET', KEYS[at], 'id', 'up', 'down', 'replies')
    for order, member in ipairs(members(parent, id, fields[2] or 0, fields[3] or 0, fields[4] or 0)) do
      table.insert(removed[order], member)
    end
    table.insert(deleted, ARGV[4])
    table.insert(deleted, fields[1])
  end
  collect(12, ancestor(DEPTH), ARGV[2])
  local last = #KEYS
  while last > OWN_KEYS do
    local children = redis.call('HINCRBY', KEYS[last], 'places', -1)
    if children > 0 or redis.call('HEXISTS', KEYS[last], 'gone') == 0 then break end
    collect(last, ancestor(last - OWN_KEYS - 1), ancestor(last - OWN_KEYS))
    last = last - 1
  end
  for order = 1, 4 do redis.call('ZREM', KEYS[5 + order], unpack(removed[order])) end
  redis.call('ZADD', KEYS[10], unpack(deleted))
  redis.call('PEXPIRE', KEYS[10], ARGV[7])
  local function trim(ids)
    if #ids > 0 then redis.call('ZREM', KEYS[10], unpack(ids)) end
  end
  trim(redis.call('ZRANGE', KEYS[10], '-inf', ARGV[4] - ARGV[7], 'BYSCORE', 'LIMIT', 0, 100))
  local excess = redis.call('ZCARD', KEYS[10]) - ARGV[8]
  if excess > 0 then trim(redis.call('ZRANGE', KEYS[10], 0, math.min(excess, 100) - 1)) end
  redis.call('UNLINK', KEYS[12])
  redis.call('UNLINK', KEYS[13])
  for at = last + 1, #KEYS do redis.call('UNLINK', KEYS[at]) end
end

-- Appends an event about the comment to the log, and publishes it.
local function append(kind, removed)
  local last = redis.call('HGET', KEYS[3], 'last') or '0-0'
  local at, number = string.match(last, '^(%d+)-(%d+)$')
  -- The id must be greater than that of the last event, also if the clock is behind.
  local now = math.max(tonumber(ARGV[4]), tonumber(at))
  local id = string.format('%.0f-%d', now, now == tonumber(at) and number + 1 or 0)
  redis.call('XADD', KEYS[4], 'MAXLEN', ARGV[6], id, 'k', kind, 'c', ARGV[3], 'n', removed, 'b', last)
  redis.call('PEXPIRE', KEYS[4], ARGV[5])
  redis.call('HSET', KEYS[3], 'last', id)
  if redis.call('PUBSUB', 'SHARDNUMSUB', KEYS[4])[2] > 0 then
    redis.call('SPUBLISH', KEYS[4], id .. ' ' .. last .. ' ' .. kind .. ' ' .. ARGV[3] .. ' ' .. removed)
  end
end

