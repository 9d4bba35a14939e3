-- rename_list.lua - renames a list.
-- KEYS 1 list:{lid}
-- ARGV 1 name
-- Returns 1 | 0 no such list
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'name', ARGV[1])
return 1
