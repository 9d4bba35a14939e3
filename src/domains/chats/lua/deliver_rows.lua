-- deliver_rows.lua - raises the position up to which rows were delivered to a member. Chats of more than 50 members store no such positions.
-- KEYS the first ten of chat.lua, all of {c}
-- ARGV 1 first bucket, which is not used  2 member  3 position
-- Returns 1 | 0 no such chat or member, or the chat stores no such positions
local chat = fetch()
local me = chat and member(ARGV[2])
if not is_shown(me) or redis.call('HLEN', KEYS[2]) > MOST_DELIVERED then return 0 end
redis.call('ZADD', KEYS[4], 'GT', int(math.min(tonumber(ARGV[3]), chat.newest)), me.uid)
return 1
