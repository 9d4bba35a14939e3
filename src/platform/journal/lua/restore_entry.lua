-- restore_entry.lua - restores a lost entry from its copy.
-- KEYS 1 journal:{n}  2 due:{n}:queue  3 dead:{n} or dead:{n}:mail
-- ARGV 1 entry id  2 record  3 end of its lease, ms  4 the most entries
-- Returns 1 | 0 it exists, or is a dead letter, or the journal is full: its copy stays
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 or redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return 0 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return 1
