-- publish_change.lua - publishes that an account, a list, a status or a JSON Web Token has changed, or that an account is typing.
-- KEYS 1 changes:{id}, privacy:{id} or, for a shard, typing:{id}: a channel; nothing is stored under it
-- ARGV 1 message
-- Returns 1 | 0 no subscriber
if redis.call('PUBSUB', 'SHARDNUMSUB', KEYS[1])[2] == 0 then return 0 end
redis.call('SPUBLISH', KEYS[1], ARGV[1])
return 1
