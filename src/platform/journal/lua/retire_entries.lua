-- retire_entries.lua - strikes settled entries out, unless they were taken up again since.
-- KEYS 1 journal:{n}  2 settled:{n}
-- ARGV 1 settled at this moment or before, ms  2… entry ids
-- Returns how many were struck out
local count = 0
for at = 2, #ARGV do
  local settled = redis.call('ZSCORE', KEYS[2], ARGV[at])
  if settled and tonumber(settled) <= tonumber(ARGV[1]) then
    redis.call('ZREM', KEYS[2], ARGV[at])
    redis.call('HDEL', KEYS[1], ARGV[at])
    count = count + 1
  end
end
return count
