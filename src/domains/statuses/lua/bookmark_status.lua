-- bookmark_status.lua - bookmarks a status, or removes the bookmark: the commit.
-- KEYS 1 status:{id}  2 bookmarkers:{id}
-- ARGV 1 user id  2 bookmark id, 0 to remove it
-- Returns the id of the bookmark | 0 there is none | -1 no such status
if redis.call('EXISTS', KEYS[1]) == 0 then return '-1' end
if ARGV[2] == '0' then
  redis.call('ZREM', KEYS[2], ARGV[1])
  return '0'
end
redis.call('ZADD', KEYS[2], 'NX', ARGV[2], ARGV[1])
return string.format('%.0f', redis.call('ZSCORE', KEYS[2], ARGV[1]))
