-- add_mark.lua - writes the account's side of a bookmark or a repost, replacing an entry with another id, and counts a new entry.
-- KEYS 1 bookmarks:{uid}, or reposts:{uid}  2 user:{uid}
-- ARGV 1 status id  2 the mark's id  3 the most marks of an account  4 the field of the account that counts the set
-- Returns 1 | 0 no such account | -1 the limit is reached
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return -1 end
if redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1]) == 1 then redis.call('HINCRBY', KEYS[2], ARGV[4], 1) end
return 1
