-- claim_login.lua - gives a login to an account, if it is free or still with one that was abandoned.
-- KEYS 1 users:{shard}  2 freed:{shard}:digest
-- ARGV 1 login in lower case  2 id  3 the abandoned claimant's id, 0 for none  4 now, ms
-- Returns the id that holds the login now | 0 it was a deleted account's, and is nobody's yet
if tonumber(redis.call('GET', KEYS[2]) or 0) > tonumber(ARGV[4]) then return '0' end
local holder = redis.call('HGET', KEYS[1], ARGV[1])
if not holder or holder == ARGV[3] then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  return ARGV[2]
end
return holder
