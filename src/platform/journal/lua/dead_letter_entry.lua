-- dead_letter_entry.lua - moves an entry to the dead letters.
-- KEYS 1 journal:{n}  2 due:{n}:queue  3 dead:{n}
-- ARGV 1 entry id  2 record  3 error  4 the most dead letters
-- Returns 1 | 0 full: the entry stays
if redis.call('HLEN', KEYS[3]) >= tonumber(ARGV[4]) then return 0 end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[3] .. '\n' .. ARGV[2])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[1], ARGV[1])
return 1
