-- begin_world.lua - notes that a world is being loaded, or tells which one was.
-- KEYS 1 world:{demo}
-- ARGV 1 name  2 moment, ms
-- Returns { name, moment, state } as it stands now
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], 'name', ARGV[1], 'moment', ARGV[2], 'state', 'loading') end
return redis.call('HMGET', KEYS[1], 'name', 'moment', 'state')
