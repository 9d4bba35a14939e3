-- claim_login.lua - claims a login for an account, if it is free or an abandoned account has it.
-- KEYS 1 users:{shard}  2 freed:{shard}:digest
-- ARGV 1 login in lower case  2 id  3 the abandoned claimant's id, 0 for none  4 now, ms
-- Returns the id that holds the login | 0 it is reserved after a deletion
if tonumber(redis.call('GET', KEYS[2]) or 0) > tonumber(ARGV[4]) then return '0' end
local holder = redis.call('HGET', KEYS[1], ARGV[1])
if not holder or holder == ARGV[3] then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  return ARGV[2]
end
return holder
