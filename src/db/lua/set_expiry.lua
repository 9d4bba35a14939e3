-- set_expiry.lua - sets the time to live of a key that has none, or removes it from a key that must have none.
-- KEYS 1 key:{tag}
-- ARGV 1 time to live, ms, 0 for none
-- Returns 1 | 0 it is correct, or there is no such key
local left = redis.call('PTTL', KEYS[1])
if ARGV[1] == '0' then
  if left < 0 then return 0 end
  return redis.call('PERSIST', KEYS[1])
end
if left ~= -1 then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
