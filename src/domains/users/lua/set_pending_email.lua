-- set_pending_email.lua - sets the pending address of an account, and notes a message to the confirmed one. A token of the address before ends.
-- KEYS 1 user:{id}  2 email:{id}  3 email_pending:{id}  4 email_notices:{id}
-- ARGV 1 time to live, ms  2 id of the notice  3 time to live of notices, ms  4… field, value, …
-- Returns 1 | 0 no such account
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[3], unpack(ARGV, 4))
redis.call('HDEL', KEYS[3], 'token')
redis.call('PEXPIRE', KEYS[3], ARGV[1])
local address = redis.call('HGET', KEYS[2], 'address')
if address and redis.call('HLEN', KEYS[4]) < 100 then
  redis.call('HSET', KEYS[4], ARGV[2], address)
  redis.call('PEXPIRE', KEYS[4], ARGV[3])
end
return 1
