-- delete_status.lua - takes a status away for good, if it is its author who asks. Those who like it are found until each has forgotten it.
-- KEYS 1 status:{id}  2 gone:{id}
-- ARGV 1 author's id  2 how long the mark stays, ms
-- Returns 1 | 0 there is no such status of this author
if redis.call('HGET', KEYS[1], 'uid') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
redis.call('UNLINK', KEYS[1])
return 1
