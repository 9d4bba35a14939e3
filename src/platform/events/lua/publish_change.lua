-- publish_change.lua - publishes that the surroundings of an account or a list have changed.
-- KEYS 1 changes:{id}, a channel; nothing is stored under it
-- ARGV none
-- Returns 1 | 0 no subscriber
if redis.call('PUBSUB', 'SHARDNUMSUB', KEYS[1])[2] == 0 then return 0 end
redis.call('SPUBLISH', KEYS[1], '')
return 1
