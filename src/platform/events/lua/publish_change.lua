-- publish_change.lua - tells whoever listens that an account's or a list's surroundings have changed.
-- KEYS 1 changes:{id}, a channel; nothing is kept under it
-- ARGV none
-- Returns 1 | 0 nobody listens
if redis.call('PUBSUB', 'SHARDNUMSUB', KEYS[1])[2] == 0 then return 0 end
redis.call('SPUBLISH', KEYS[1], '')
return 1
