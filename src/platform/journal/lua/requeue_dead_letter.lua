-- requeue_dead_letter.lua - requeues a dead letter.
-- KEYS 1 journal:{n}  2 due:{n}:queue  3 dead:{n} or dead:{n}:mail
-- ARGV 1 entry id  2 record  3 end of its lease, ms
-- Returns 1 | 0 no such dead letter
if redis.call('HDEL', KEYS[3], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return 1
