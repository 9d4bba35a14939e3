-- delete_branch.lua - deletes a comment with its branch: from here on none of it can be read. The comments below are deleted later.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 how long deleted comments are remembered, ms  8 how many  9 the requesting account  10 id of the removal
-- Returns the number of removed comments | 0 no such comment | -1 not allowed
local fields = redis.call('HMGET', KEYS[12], 'id', 'uid', 'places', 'descendants', 'others')
if not fields[1] or not is_attached() then return 0 end
if redis.call('HGET', KEYS[1], 'uid') ~= ARGV[9] then
  if not fields[2] then return 0 end
  if fields[2] ~= ARGV[9] or tonumber(fields[5] or 0) > 0 then return -1 end
end
local below = tonumber(fields[4] or 0)
if fields[2] then
  add_to_counts(-1, fields[2])
  add_to_replies(-1)
end
-- The authors of the comments below are read only when the comments are deleted: until then the comments count in the ancestors' `others`.
if below > 0 then
  redis.call('HINCRBY', KEYS[1], 'comments', -below)
  for at = OWN_KEYS + 1, #KEYS do redis.call('HINCRBY', KEYS[at], 'descendants', -below) end
end
local removed = below + (fields[2] and 1 or 0)
append('d', removed)
redis.call('ZREM', KEYS[5], ARGV[3])
if tonumber(fields[3] or 0) > 0 then redis.call('ZADD', KEYS[11], ARGV[10], ARGV[3]) end
remove_from_thread()
return removed
