-- release_external_id.lua - releases the claim of an account on an external id. The time of the deletion of the last account with it stays for a while.
-- KEYS 1 external_id:{digest}
-- ARGV 1 id  2 when the account was deleted, ms; '' for an account that was not created  3 time to live, ms
-- Returns 1 | 0 another account or no account has it
if redis.call('HGET', KEYS[1], 'uid') ~= ARGV[1] then return 0 end
if ARGV[2] ~= '' then
  redis.call('HSET', KEYS[1], 'removed', ARGV[2])
elseif redis.call('HEXISTS', KEYS[1], 'removed') == 0 then
  redis.call('UNLINK', KEYS[1])
  return 1
end
redis.call('HDEL', KEYS[1], 'uid', 'at')
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
