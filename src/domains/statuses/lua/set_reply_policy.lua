-- set_reply_policy.lua - sets who may reply to a status of this author.
-- KEYS 1 status:{id}
-- ARGV 1 author's id  2 policy, empty for everyone
-- Returns 1 | 0 no such status of this author
if redis.call('HGET', KEYS[1], 'uid') ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('HDEL', KEYS[1], 'policy') else redis.call('HSET', KEYS[1], 'policy', ARGV[2]) end
return 1
