-- renew_pending_email.lua - renews a pending address for another message with a link, if it is still pending. A token of the message before ends.
-- KEYS 1 email_pending:{id}
-- ARGV 1 the message before  2 the new message  3 until when the address is pending, ms  4 time to live, ms
-- Returns 1 | 0 the message was replaced, or no address is pending
if redis.call('HGET', KEYS[1], 'message') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'message', ARGV[2], 'until', ARGV[3])
redis.call('HDEL', KEYS[1], 'token')
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
