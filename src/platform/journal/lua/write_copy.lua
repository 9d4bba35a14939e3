-- write_copy.lua - writes a copy of an entry whose journal is on another node of the cluster.
-- KEYS 1 copies:{tag}
-- ARGV 1 entry id  2 record  3 the most copies
-- Returns 1 | 0 full
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
