-- create_server_key.lua - adds a server key to the register.
-- KEYS 1 server_keys:{keys}
-- ARGV 1 name  2 its record  3 the maximum number of keys
-- Returns 1 | 0 another key has the name | 2 the maximum is reached
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 0 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 2 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
