-- add_comment.lua - adds a comment, once.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 author's id  8 message
-- Returns 1 it exists | 0 its parent does not exist | -1 it was deleted
local fields = redis.call('HMGET', KEYS[12], 'id', 'gone')
if fields[2] or redis.call('ZSCORE', KEYS[10], ARGV[3]) then return -1 end
if not is_attached() then return 0 end
if fields[1] then return 1 end
if DEPTH > 0 and redis.call('HEXISTS', KEYS[#KEYS], 'gone') == 1 then return 0 end
redis.call('HSET', KEYS[12], 'id', ARGV[3], 'uid', ARGV[7], 'message', ARGV[8])
if DEPTH > 0 then
  redis.call('HSET', KEYS[12], 'path', ARGV[1])
  redis.call('HINCRBY', KEYS[#KEYS], 'places', 1)
end
for order, member in ipairs(members(ancestor(DEPTH), ARGV[2], 0, 0, 0)) do redis.call('ZADD', KEYS[5 + order], 0, member) end
add_to_counts(1, ARGV[7])
add_to_replies(1)
append('a', 0)
return 1
