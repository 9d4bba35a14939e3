-- claim_pair.lua - decides which chat two accounts have.
-- KEYS 1 direct:{low}  2 user:{low}
-- ARGV 1 the other account  2 id for a new chat
-- Returns the id of their chat | 0 no such account
local chat = redis.call('HGET', KEYS[1], ARGV[1])
if chat then return chat end
if redis.call('EXISTS', KEYS[2]) == 0 then return '0' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return ARGV[2]
