-- renew_server_key.lua - advances the version of a website's server key, if the website belongs to the account.
-- KEYS 1 website:{W}
-- ARGV 1 the account
-- Returns 1 | 0 no such website of the account
if redis.call('HGET', KEYS[1], 'uid') ~= ARGV[1] then return 0 end
redis.call('HINCRBY', KEYS[1], 'key', 1)
return 1
