-- set_expiry.lua - gives a key a time to live that has none, or takes it away from one that must have none.
-- KEYS 1 key:{tag}
-- ARGV 1 how long it lives, ms, 0 for ever
-- Returns 1 | 0 it is as it should be, or not there
local left = redis.call('PTTL', KEYS[1])
if ARGV[1] == '0' then
  if left < 0 then return 0 end
  return redis.call('PERSIST', KEYS[1])
end
if left ~= -1 then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
