-- purge_member.lua - removes a deleted account from the record of a chat and from those that have left, and from a direct chat its membership and
-- positions. A direct chat without accounts ends.
-- KEYS the first ten of chat.lua, all of {c}
-- ARGV 1 first bucket, which is not used  2 account  3 an id that no account has
-- Returns the other account of a direct chat that remains, else 0 | {gone} the chat has ended
local chat = fetch()
if not chat then return '0' end
local uid = ARGV[2]
for at = 2, 8, 2 do
  if chat.recent[at] == uid then chat.recent[at] = '0' end
end
local all = redis.call('HGETALL', KEYS[2])
for at = 1, #all, 2 do
  local m = parse(all[at], all[at + 1])
  if m.requested_by == uid then
    m.requested_by = '0'
    save(m)
  end
end
local rest = {}
for ended in string.gmatch(chat.ends, '[^,]+') do
  local row, member, by, at = string.match(ended, '^(%d+) (%d+) (%d+) (%d+)$')
  -- The event of a removal by a deleted account has, as its author, the id that no account has.
  if member ~= uid then table.insert(rest, table.concat({ row, member, by == uid and ARGV[3] or by, at }, ' ')) end
end
if chat.ends ~= '' then redis.call('HSET', KEYS[1], 'ends', table.concat(rest, ',')) end
local other = '0'
if chat.kind == 'direct' then
  if chat.a == uid then chat.a = '0' end
  if chat.b == uid then chat.b = '0' end
  other = chat.a == '0' and chat.b or chat.a
  redis.call('HSET', KEYS[1], 'a', chat.a, 'b', chat.b)
  if other == '0' then
    redis.call('HSET', KEYS[1], 'gone', 1, 'version', int(chat.version + 1))
    redis.call('HDEL', KEYS[1], 'last', 'recent', 'name')
    redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9])
    return 'gone'
  end
  update_shared_positions(chat, true, uid)
  redis.call('HDEL', KEYS[2], uid)
  redis.call('ZREM', KEYS[3], uid)
  redis.call('ZREM', KEYS[4], uid)
end
redis.call('HDEL', KEYS[8], uid)
redis.call('ZREM', KEYS[10], uid)
chat.version = chat.version + 1
redis.call('HSET', KEYS[1], 'recent', table.concat(chat.recent, ' '), 'version', int(chat.version))
return other
