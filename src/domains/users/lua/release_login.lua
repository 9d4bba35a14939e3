-- release_login.lua - takes a login from an account that is gone.
-- KEYS 1 users:{shard}
-- ARGV 1 login in lower case  2 id
-- Returns 1 | 0 somebody else has it, or nobody
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
