-- mark_source.lua - marks an author in a feed, if the author is one of its sources: the author's statuses are merged when the feed is read.
-- KEYS 1 following:{id}, or members:{id}  2 marked:{id}
-- ARGV 1 author
-- Returns 1 | 0 not a source
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[2], ARGV[1], ARGV[1])
return 1
