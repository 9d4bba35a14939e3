-- ack_entries.lua - acknowledges entries: deletes them.
-- KEYS 1 journal:{n}  2 due:{n}:short  3 due:{n}:long
-- ARGV entry ids
-- Returns the number of deleted entries
redis.call('ZREM', KEYS[2], unpack(ARGV))
redis.call('ZREM', KEYS[3], unpack(ARGV))
return redis.call('HDEL', KEYS[1], unpack(ARGV))
