-- claim_external_id.lua - claims an external id for an account, if it is free or an abandoned account has it.
-- KEYS 1 external_id:{digest}
-- ARGV 1 id  2 the abandoned claimant's id, 0 for none  3 now, ms  4 when the JWT that needs the account was issued, ms; '' without a JWT
-- Returns the id of the account that has it | 0 the last account with it was deleted after the JWT was issued
local holder = redis.call('HGET', KEYS[1], 'uid')
local removed = ARGV[4] ~= '' and redis.call('HGET', KEYS[1], 'removed')
if removed and tonumber(removed) >= tonumber(ARGV[4]) then return 0 end
if holder and holder ~= ARGV[1] and holder ~= ARGV[2] then return tonumber(holder) end
redis.call('HSET', KEYS[1], 'uid', ARGV[1], 'at', ARGV[3])
redis.call('PERSIST', KEYS[1])
return tonumber(ARGV[1])
