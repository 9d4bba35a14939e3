-- delete_status.lua - takes a status away for good, if it is its author who asks. Those who like it are found until each has forgotten it.
-- KEYS 1 status:{id}  2 gone:{id}
-- ARGV 1 author's id  2 how long the mark stays, ms
-- Returns { message, latitude | nil, longitude | nil } as they were | {} there is no such status of this author
local was = redis.call('HMGET', KEYS[1], 'uid', 'message', 'lat', 'lon')
if was[1] ~= ARGV[1] then return {} end
redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
redis.call('UNLINK', KEYS[1])
return { was[2], was[3], was[4] }
