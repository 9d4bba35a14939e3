-- replace_password.lua - replaces the hash of a password, if it is still the one that was verified.
-- KEYS 1 password:{id}
-- ARGV 1 the verified hash  2 the new hash
-- Returns 1 | 0 the hash has changed
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
