-- repair_comment.lua - moves a comment to its right position in the orders, and sets its counts, if its thread has not changed since it was
-- read.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 the newest event at the read, or - to check nothing and leave the counts
--      8 replies  9 places  10 descendants  11 others
--      12… order, from 1 on, and a member of it at a wrong position
-- Returns 1 | 0 no such comment | -1 the thread has changed since
local fields = redis.call('HMGET', KEYS[12], 'id', 'up', 'down', 'replies', 'gone')
if not fields[1] then return 0 end
local replies = fields[4] or 0
if ARGV[7] ~= '-' then
  if (redis.call('HGET', KEYS[3], 'last') or '') ~= ARGV[7] then return -1 end
  redis.call('HSET', KEYS[12], 'replies', ARGV[8], 'places', ARGV[9], 'descendants', ARGV[10], 'others', ARGV[11])
  if fields[5] then redis.call('HDEL', KEYS[12], 'others') end
  replies = ARGV[8]
end
local right = members(ancestor(DEPTH), ARGV[2], fields[2] or 0, fields[3] or 0, replies)
for order, member in ipairs(right) do redis.call('ZADD', KEYS[5 + order], 0, member) end
for at = 12, #ARGV, 2 do
  local order = tonumber(ARGV[at])
  if ARGV[at + 1] ~= right[order] then redis.call('ZREM', KEYS[5 + order], ARGV[at + 1]) end
end
return 1
