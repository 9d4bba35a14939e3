-- set_settings.lua - sets chat settings of an account.
-- KEYS 1 chat_settings:{u}  2 user:{u}
-- ARGV field, value, …
-- Returns 1 | 0 no such account
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
