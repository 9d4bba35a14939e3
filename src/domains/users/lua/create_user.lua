-- create_user.lua - writes a new account and its password, and its pending address: all of them, or none in a full store.
-- KEYS 1 password:{id}  2 user:{id}  3 email_pending:{id}, with an address
-- ARGV 1 password hash  2 position of the last field of the account  3… field, value, …  then, with an address: time to live, ms, field, value, …
-- Returns 1
local last = tonumber(ARGV[2])
redis.call('SET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], unpack(ARGV, 3, last))
if KEYS[3] then
  redis.call('HSET', KEYS[3], unpack(ARGV, last + 2))
  redis.call('PEXPIRE', KEYS[3], ARGV[last + 1])
end
return 1
