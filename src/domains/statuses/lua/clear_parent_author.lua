-- clear_parent_author.lua - clears the author of the parent in a reply's record.
-- KEYS 1 status:{id}
-- ARGV none
-- Returns 1 | 0 no such reply
local reply = redis.call('HGET', KEYS[1], 'reply')
if not reply then return 0 end
redis.call('HSET', KEYS[1], 'reply', (string.gsub(reply, '%d+$', '0')))
return 1
