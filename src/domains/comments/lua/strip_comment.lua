-- strip_comment.lua - takes away what a deleted comment says, and who said it.
-- KEYS 1 comment:{sid}:cid
-- ARGV none
-- Returns how many fields it took away
if redis.call('HEXISTS', KEYS[1], 'gone') == 0 then return 0 end
return redis.call('HDEL', KEYS[1], 'uid', 'message', 'edited', 'others', 'told')
