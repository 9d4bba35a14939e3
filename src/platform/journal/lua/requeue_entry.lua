-- requeue_entry.lua - requeues a settled entry.
-- KEYS 1 due:{n}:queue  2 settled:{n}
-- ARGV 1 entry id  2 end of its lease, ms
-- Returns 1 | 0 it is not settled
if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then return 0 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
return 1
