-- settle_entries.lua - marks entries as settled. They are retained until no node can lose the writes that settled them.
-- KEYS 1 journal:{n}  2… due:{n}:queue of every queue  last settled:{n}
-- ARGV 1 now, ms  2… entry id, generation in which its passes began, …
-- Returns the number of settled entries, without those that were restarted in another generation
local count = 0
for at = 2, #ARGV, 2 do
  local id = ARGV[at]
  local record = redis.call('HGET', KEYS[1], id)
  if record and string.find(record, ' ' .. ARGV[at + 1] .. ':', 1, true) then
    for queue = 2, #KEYS - 1 do redis.call('ZREM', KEYS[queue], id) end
    redis.call('ZADD', KEYS[#KEYS], ARGV[1], id)
    count = count + 1
  end
end
return count
