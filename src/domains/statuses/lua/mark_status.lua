-- mark_status.lua - adds an account to a set of a status, or removes it: the commit of a bookmark or a repost.
-- KEYS 1 status:{id}  2 bookmarkers:{id}, or reposters:{id}
-- ARGV 1 user id  2 the mark's id, 0 to remove it  3 the field of the status that counts the set, '' for none
-- Returns the id of the mark | 0 there is none | -1 no such status | the negative id of the mark that was removed
if redis.call('EXISTS', KEYS[1]) == 0 then return '-1' end
local function count(by) if ARGV[3] ~= '' then redis.call('HINCRBY', KEYS[1], ARGV[3], by) end end
if ARGV[2] == '0' then
  local id = redis.call('ZSCORE', KEYS[2], ARGV[1])
  if not id then return '0' end
  redis.call('ZREM', KEYS[2], ARGV[1])
  count(-1)
  return string.format('-%.0f', id)
end
if redis.call('ZADD', KEYS[2], 'NX', ARGV[2], ARGV[1]) == 1 then count(1) end
return string.format('%.0f', redis.call('ZSCORE', KEYS[2], ARGV[1]))
