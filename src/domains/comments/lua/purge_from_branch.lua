-- purge_from_branch.lua - deletes a comment of a deleted branch, and records the comment if its replies must be deleted.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 id of the removal
-- Returns 1 | 0 no such comment, or it is in no deleted branch
local fields = redis.call('HMGET', KEYS[12], 'id', 'uid', 'places', 'up', 'down', 'replies')
if not fields[1] or is_attached() then return 0 end
if fields[2] then
  for at = OWN_KEYS + 1, #KEYS do
    local author = redis.call('HGET', KEYS[at], 'uid')
    if author and author ~= fields[2] then redis.call('HINCRBY', KEYS[at], 'others', -1) end
  end
end
if tonumber(fields[3] or 0) > 0 then redis.call('ZADD', KEYS[11], ARGV[7], ARGV[3]) end
for order, member in ipairs(members(ancestor(DEPTH), ARGV[2], fields[4] or 0, fields[5] or 0, fields[6] or 0)) do
  redis.call('ZREM', KEYS[5 + order], member)
end
redis.call('ZREM', KEYS[5], ARGV[3])
redis.call('UNLINK', KEYS[12])
redis.call('UNLINK', KEYS[13])
return 1
