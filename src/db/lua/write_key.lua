-- write_key.lua - runs one writing command on one key, also in a full store.
-- KEYS 1 any:{owner}
-- ARGV 1 the command's name  2… its arguments after the key
-- Returns the reply of the command
local name = ARGV[1]
if name == 'ZADD' then return redis.call('ZADD', KEYS[1], unpack(ARGV, 2)) end
if name == 'ZREM' then return redis.call('ZREM', KEYS[1], unpack(ARGV, 2)) end
if name == 'ZREMRANGEBYSCORE' then return redis.call('ZREMRANGEBYSCORE', KEYS[1], unpack(ARGV, 2)) end
if name == 'SET' then return redis.call('SET', KEYS[1], unpack(ARGV, 2)) end
if name == 'HSET' then return redis.call('HSET', KEYS[1], unpack(ARGV, 2)) end
if name == 'HDEL' then return redis.call('HDEL', KEYS[1], unpack(ARGV, 2)) end
return redis.error_reply('ERR not one of the commands of write_key.lua')
