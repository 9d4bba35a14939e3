-- issue_email_token.lua - stores the digest of a token that confirms a pending address, if the address still waits for this message.
-- KEYS 1 email_pending:{id}
-- ARGV 1 message  2 digest of the token  3 until when both are valid, ms  4 time to live, ms
-- Returns 1 | 0 another message has replaced it, or no address is pending
if redis.call('HGET', KEYS[1], 'message') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'token', ARGV[2], 'until', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
