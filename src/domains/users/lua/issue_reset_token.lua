-- issue_reset_token.lua - stores the digest of a token that resets the password, if the account still has the confirmed address and the password.
-- KEYS 1 user:{id}  2 email:{id}  3 email_reset:{id}
-- ARGV 1 the confirmation of the address  2 digest of the token  3 until when it is valid, ms  4 time to live, ms  5 the epoch of device tokens when the message was requested
-- Returns 1 | 0 the account was deleted, or has another address or password
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HGET', KEYS[2], 'confirmation') ~= ARGV[1] then return 0 end
if (redis.call('HGET', KEYS[1], 'devices') or '') ~= ARGV[5] then return 0 end
redis.call('HSET', KEYS[3], 'token', ARGV[2], 'until', ARGV[3])
redis.call('PEXPIRE', KEYS[3], ARGV[4])
return 1
