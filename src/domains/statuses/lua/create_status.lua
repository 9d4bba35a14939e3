-- create_status.lua - writes a status, unless it exists or was deleted.
-- KEYS 1 status:{id}  2 gone:{id}
-- ARGV field, value, …
-- Returns 1 the status exists | 0 it was deleted
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], unpack(ARGV)) end
return 1
