-- remove_mark.lua - removes the account's side of a bookmark or a repost, also from the count.
-- KEYS 1 bookmarks:{uid}, or reposts:{uid}  2 user:{uid}
-- ARGV 1 status id  2 the field of the account that counts the set
-- Returns 1 | 0 there was none
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HINCRBY', KEYS[2], ARGV[2], -1) end
return 1
