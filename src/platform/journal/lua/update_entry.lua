-- update_entry.lua - stores the progress of an entry and the end of its lease, unless it was acknowledged.
-- KEYS 1 journal:{n}  2 due:{n}:queue  3 settled:{n}, on a cluster
-- ARGV 1 entry id  2 record  3 end of its lease, ms
-- Returns 1 | 0 it was acknowledged
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
if KEYS[3] then redis.call('ZREM', KEYS[3], ARGV[1]) end
return 1
