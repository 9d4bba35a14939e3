-- schedule_chat.lua - puts a chat into a schedule, unless it is there at an earlier time, or with a larger size.
-- KEYS 1 chat_trims:{n}, chat_seen_since:{n} or chat_sizes:{n}
-- ARGV 1 chat  2 score  3 LT for times, GT for sizes
-- Returns 1 if it was not there, else 0
return redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2], ARGV[1])
