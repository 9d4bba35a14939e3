-- clear_comment.lua - removes the text and author of a deleted comment.
-- KEYS 1 comment:{sid}:cid
-- ARGV none
-- Returns the number of removed fields
if redis.call('HEXISTS', KEYS[1], 'gone') == 0 then return 0 end
return redis.call('HDEL', KEYS[1], 'uid', 'message', 'entities', 'edited', 'others', 'told')
