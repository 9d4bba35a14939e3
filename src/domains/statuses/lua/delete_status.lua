-- delete_status.lua - deletes a status of this author, and leaves a tombstone. Its likers are kept until each has removed the status from
-- their set.
-- KEYS 1 status:{id}  2 gone:{id}
-- ARGV 1 author's id  2 time to live of the tombstone, ms
-- Returns { message, latitude | nil, longitude | nil, audience | nil, list | nil } of the deleted status | {} no such status of this author
local was = redis.call('HMGET', KEYS[1], 'uid', 'message', 'lat', 'lon', 'audience', 'circle')
if was[1] ~= ARGV[1] then return {} end
redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
redis.call('UNLINK', KEYS[1])
return { was[2], was[3], was[4], was[5], was[6] }
