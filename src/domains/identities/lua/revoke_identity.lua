-- revoke_identity.lua - revokes the JWTs of an account that were issued up to a time. An earlier time than the stored one changes nothing.
-- KEYS 1 identity:{uid}  2 user:{uid}
-- ARGV 1 the time, ms
-- Returns 1 | 0 no such account
if redis.call('EXISTS', KEYS[2]) == 0 or redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if tonumber(redis.call('HGET', KEYS[1], 'revoked') or 0) < tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], 'revoked', ARGV[1]) end
return 1
