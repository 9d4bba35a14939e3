-- dead_letter_entry.lua - lays an entry among the dead.
-- KEYS 1 journal:{n}  2 due:{n}:queue  3 dead:{n}
-- ARGV 1 entry id  2 record  3 why  4 the most there may be
-- Returns 1 | 0 there is no room for it: it stays
if redis.call('HLEN', KEYS[3]) >= tonumber(ARGV[4]) then return 0 end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[3] .. '\n' .. ARGV[2])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[1], ARGV[1])
return 1
