-- renew_server_key.lua - gives a website the next version of its server key. Nothing is written of one that is gone, or of another's.
-- KEYS 1 website:{W}
-- ARGV 1 whose it is
-- Returns 1 | 0 there is none
if redis.call('HGET', KEYS[1], 'uid') ~= ARGV[1] then return 0 end
redis.call('HINCRBY', KEYS[1], 'key', 1)
return 1
