-- sweep_home.lua - takes an author's statuses out of a home, unless its owner follows that author (again).
-- KEYS 1 home:{id}  2 following:{id}
-- ARGV 1 author  2… status ids
-- Returns 1 | 0 still followed, nothing was taken out
if redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 0 end
redis.call('ZREM', KEYS[1], unpack(ARGV, 2))
return 1
