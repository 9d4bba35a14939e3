-- create_user.lua - writes a new account and its password: both, or neither in a full store.
-- KEYS 1 password:{id}  2 user:{id}
-- ARGV 1 password hash  2… field, value, …
-- Returns 1
redis.call('SET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], unpack(ARGV, 2))
return 1
