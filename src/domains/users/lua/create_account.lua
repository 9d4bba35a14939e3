-- create_account.lua - writes a new account without a password, with further HASHes of it: all of them, or none in a full store. An account that exists stays as
-- it is.
-- KEYS 1 user:{id}  2… further HASHes of the account
-- ARGV for each key: time to live, ms, 0 for none; the number of fields and values; field, value, …
-- Returns 1 | 0 the account exists
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local at = 1
for n = 1, #KEYS do
  local ttl, count = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  redis.call('HSET', KEYS[n], unpack(ARGV, at + 2, at + 1 + count))
  if ttl > 0 then redis.call('PEXPIRE', KEYS[n], ttl) end
  at = at + 2 + count
end
return 1
