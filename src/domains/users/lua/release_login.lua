-- release_login.lua - releases the claim of a deleted account on its login.
-- KEYS 1 users:{shard}
-- ARGV 1 login in lower case  2 id
-- Returns 1 | 0 another account has it, or none
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
