-- delete_settled_entries.lua - deletes settled entries, unless they were requeued since.
-- KEYS 1 journal:{n}  2 settled:{n}
-- ARGV 1 settled at this time or before, ms  2… entry ids
-- Returns the number of deleted entries
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
