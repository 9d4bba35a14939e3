-- claim_login.lua - gives a login to an account, if it is free or still with one that was abandoned.
-- KEYS 1 users:{shard}
-- ARGV 1 login in lower case  2 id  3 the abandoned claimant's id, 0 for none
-- Returns the id that holds the login now
local holder = redis.call('HGET', KEYS[1], ARGV[1])
if not holder or holder == ARGV[3] then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  return ARGV[2]
end
return holder
