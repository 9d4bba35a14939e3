-- add_bookmark.lua - writes the account's side of a bookmark, replacing an older or newer one, and counts it.
-- KEYS 1 bookmarks:{uid}  2 user:{uid}
-- ARGV 1 status id  2 bookmark id  3 the most bookmarks of an account
-- Returns 1 | 0 no such account | -1 the limit is reached
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return -1 end
if redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1]) == 1 then redis.call('HINCRBY', KEYS[2], 'bookmarks', 1) end
return 1
