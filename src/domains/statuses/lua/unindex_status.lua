-- unindex_status.lua - removes a status from its author's profile and from the count, and from the author's pins.
-- KEYS 1 profile:{uid}  2 user:{uid}  3 pins:{uid}
-- ARGV 1 status id
-- Returns 1 | 0 it was not in the profile
redis.call('ZREM', KEYS[3], ARGV[1])
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HINCRBY', KEYS[2], 'posts', -1) end
return 1
