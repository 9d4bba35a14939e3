-- claim_entries.lua - claims overdue entries, the longest overdue first.
-- KEYS 1 journal:{n}  2 due:{n}:queue  3 dead:{n}  4 dead:{n}:mail
-- ARGV 1 now, ms  2 end of the lease, ms  3 limit
-- Returns queue length, number of dead letters, id, record, id, record, …; the record includes this claim
local due = redis.call('ZRANGE', KEYS[2], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[3])
local lost = {}
local taken = {redis.call('ZCARD', KEYS[2]), redis.call('HLEN', KEYS[3]) + redis.call('HLEN', KEYS[4])}
for _, id in ipairs(due) do
  local record = redis.call('HGET', KEYS[1], id)
  if record then
    local claims, rest = string.match(record, '^(%d+)( .*)$')
    record = string.format('%d', claims + 1) .. rest
    redis.call('HSET', KEYS[1], id, record)
    redis.call('ZADD', KEYS[2], ARGV[2], id)
    taken[#taken + 1] = id
    taken[#taken + 1] = record
  else
    lost[#lost + 1] = id
  end
end
if #lost > 0 then redis.call('ZREM', KEYS[2], unpack(lost)) end
return taken
