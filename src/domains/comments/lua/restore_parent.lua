-- restore_parent.lua - restores a missing ancestor as a deleted comment, so that its replies can be read; or, if the ancestor was removed from the
-- thread, records that its replies must be deleted.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 id of a removal
-- Returns 1 restored | 2 its replies must be deleted | 0 it exists, or its status does not
if not is_attached() or redis.call('EXISTS', KEYS[12]) == 1 then return 0 end
if redis.call('ZSCORE', KEYS[10], ARGV[3]) then
  redis.call('ZADD', KEYS[11], ARGV[7], ARGV[3])
  return 2
end
redis.call('HSET', KEYS[12], 'id', ARGV[3], 'gone', 1)
if DEPTH > 0 then redis.call('HSET', KEYS[12], 'path', ARGV[1]) end
for order, member in ipairs(members(ancestor(DEPTH), ARGV[2], 0, 0, 0)) do redis.call('ZADD', KEYS[5 + order], 0, member) end
return 1
