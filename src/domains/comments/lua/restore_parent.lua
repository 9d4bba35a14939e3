-- restore_parent.lua - writes a comment as a deleted one that is missing above others, so that these can be read; or notes that what is below it
-- goes, if it was taken away.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 id of a removal
-- Returns 1 it stands | 2 what is below it goes | 0 it is there, or its status is not
if not stands() or redis.call('EXISTS', KEYS[12]) == 1 then return 0 end
if redis.call('ZSCORE', KEYS[10], ARGV[3]) then
  redis.call('ZADD', KEYS[11], ARGV[7], ARGV[3])
  return 2
end
redis.call('HSET', KEYS[12], 'id', ARGV[3], 'gone', 1)
if DEPTH > 0 then redis.call('HSET', KEYS[12], 'path', ARGV[1]) end
for order, member in ipairs(members(above(DEPTH), ARGV[2], 0, 0, 0)) do redis.call('ZADD', KEYS[5 + order], 0, member) end
return 1
