-- write_list.lua - writes a list's record once: a name that was changed since stays.
-- KEYS 1 list:{lid}
-- ARGV field, value, …
-- Returns 1 | 0 it exists
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
