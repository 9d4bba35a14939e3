-- delete_status.lua - takes a status away for good, if it is its author who asks.
-- KEYS 1 status:{id}  2 gone:{id}  3 likers:{id}
-- ARGV 1 author's id  2 how long the mark stays, ms
-- Returns 1 | 0 there is no such status of this author
if redis.call('HGET', KEYS[1], 'uid') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
redis.call('UNLINK', KEYS[1], KEYS[3])
return 1
