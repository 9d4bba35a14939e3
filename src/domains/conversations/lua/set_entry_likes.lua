-- set_entry_likes.lua - moves a reply in the order by likes. A deleted reply stays where it is.
-- KEYS those of conversation.lua, all of {root}
-- ARGV 1 reply's id, 7 bytes  2 its number of likes
-- Returns 1 | 0 there is no such reply
local entry, likes = read(ARGV[1]), tonumber(ARGV[2])
if not entry or entry.deleted or entry.depth == 0 then return 0 end
if entry.likes ~= likes then
  redis.call('ZADD', KEYS[3], 0, likes_member(entry, likes))
  redis.call('ZREM', KEYS[3], likes_member(entry, entry.likes))
  entry.likes = likes
  write(entry)
end
return 1
