-- reschedule_chat.lua - sets the score of a schedule entry to ARGV 3, or removes the entry if ARGV 3 is 0. Changes nothing if the score is not ARGV 2 any
-- more.
-- KEYS 1 chat_trims:{n}, chat_seen_since:{n} or chat_sizes:{n}
-- ARGV 1 chat  2 the score that was read  3 the next score; 0 for none
-- Returns 1 | 0 the entry has changed
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not held or tonumber(held) ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] == '0' then redis.call('ZREM', KEYS[1], ARGV[1]) else redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1]) end
return 1
