-- list_settled.lua - lists settled entries, the oldest first, and removes ids without a record.
-- KEYS 1 journal:{n}  2 settled:{n}
-- ARGV 1 settled at this time or before, ms  2 limit
-- Returns id, record, id, record, …
local found, lost = {}, {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[2])) do
  local record = redis.call('HGET', KEYS[1], id)
  if record then
    found[#found + 1] = id
    found[#found + 1] = record
  else
    lost[#lost + 1] = id
  end
end
if #lost > 0 then redis.call('ZREM', KEYS[2], unpack(lost)) end
return found
