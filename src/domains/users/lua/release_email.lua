-- release_email.lua - releases the claim of an account on an address. The id of the last confirmation stays for as long as an address can be pending.
-- KEYS 1 email_holder:{digest}
-- ARGV 1 id  2 the version of the account's address with the change that ends the claim  3 the version of its last confirmation: a later claim was not used; '' for a
--   claim that was used  4 time to live, ms
-- Returns 1 | 0 the claim is another one
if redis.call('HGET', KEYS[1], 'uid') ~= ARGV[1] then return 0 end
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or 0)
if version > tonumber(ARGV[2]) then return 0 end
if ARGV[3] ~= '' and version > tonumber(ARGV[3]) then
  local before = redis.call('HGET', KEYS[1], 'before')
  if not before or before == '' then
    redis.call('UNLINK', KEYS[1])
    return 1
  end
  redis.call('HSET', KEYS[1], 'confirmation', before)
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('HDEL', KEYS[1], 'uid', 'version', 'before', 'at')
return 1
