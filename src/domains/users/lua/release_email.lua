-- release_email.lua - releases the claim of an account on an address. The last confirmation stays for as long as an address can be pending since before it.
-- KEYS 1 email_holder:{digest}
-- ARGV 1 id  2 the version of the account's address with the change that ends the claim  3 1 if the claim was not used  4 time to live, ms
-- Returns 1 | 0 the claim is another one
if redis.call('HGET', KEYS[1], 'uid') ~= ARGV[1] then return 0 end
if tonumber(redis.call('HGET', KEYS[1], 'version')) > tonumber(ARGV[2]) then return 0 end
if ARGV[3] == '1' then
  local before = redis.call('HGET', KEYS[1], 'before')
  if before == '' then
    redis.call('UNLINK', KEYS[1])
    return 1
  end
  redis.call('HSET', KEYS[1], 'confirmation', before)
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('HDEL', KEYS[1], 'uid', 'version', 'before', 'at')
return 1
