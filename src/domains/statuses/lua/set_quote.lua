-- set_quote.lua - adds a status to the set of the statuses that quote a status, or removes it, and changes the count.
-- KEYS 1 status:{id}  2 quotes:{id}
-- ARGV 1 the quoting status  2 1 to add it, 0 to remove it
-- Returns 1 | 0 nothing is changed
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if ARGV[2] == '0' then
  if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then return 0 end
  redis.call('HINCRBY', KEYS[1], 'quotes', -1)
  return 1
end
if redis.call('ZADD', KEYS[2], 'NX', ARGV[1], ARGV[1]) == 0 then return 0 end
redis.call('HINCRBY', KEYS[1], 'quotes', 1)
return 1
