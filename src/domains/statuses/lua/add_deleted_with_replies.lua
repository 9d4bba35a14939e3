-- add_deleted_with_replies.lua - records the conversation entry of a deleted status to which there are replies, unless its account was deleted.
-- KEYS 1 answered:{uid}  2 user:{uid}
-- ARGV 1 root and status, 7 bytes each  2 status  3 the most entries
-- Returns 1 | 0 no such account
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -tonumber(ARGV[3]) - 1)
return 1
