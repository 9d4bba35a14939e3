-- begin_demo_load.lua - records that demo data is being loaded, unless demo data is recorded already.
-- KEYS 1 world:{demo}
-- ARGV 1 name  2 moment, ms
-- Returns { name, moment, state } as recorded now
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], 'name', ARGV[1], 'moment', ARGV[2], 'state', 'loading') end
return redis.call('HMGET', KEYS[1], 'name', 'moment', 'state')
