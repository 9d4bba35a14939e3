-- ack_entries.lua - acknowledges entries: deletes them.
-- KEYS 1 journal:{n}  2… due:{n}:queue of every queue
-- ARGV entry ids
-- Returns the number of deleted entries
for at = 2, #KEYS do redis.call('ZREM', KEYS[at], unpack(ARGV)) end
return redis.call('HDEL', KEYS[1], unpack(ARGV))
