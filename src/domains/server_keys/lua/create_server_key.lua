-- create_server_key.lua - adds a server key to the register.
-- KEYS 1 server_keys:{keys}
-- ARGV 1 name  2 its record  3 the most keys
-- Returns 1 | 0 another key has the name | 2 there are as many keys as there may be
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 0 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 2 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
