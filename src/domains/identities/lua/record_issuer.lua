-- record_issuer.lua - records the issuer of the JWTs of an account, unless one is recorded.
-- KEYS 1 identity:{uid}
-- ARGV 1 issuer
-- Returns the recorded issuer | nil the account has no identity
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
redis.call('HSETNX', KEYS[1], 'issuer', ARGV[1])
return redis.call('HGET', KEYS[1], 'issuer')
