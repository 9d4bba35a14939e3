-- advance_version.lua - replaces the store's version, if it is still the one that was read.
-- KEYS 1 version:{store}
-- ARGV 1 version  2 step  3 place, as read; empty for a store without a version  4 version  5 step  6 place  7 by  8 needs, new
-- Returns 1 | 0 another process has replaced it
local held = redis.call('HMGET', KEYS[1], 'version', 'step', 'place')
for field = 1, 3 do
  if (held[field] or '') ~= ARGV[field] then return 0 end
end
redis.call('HSET', KEYS[1], 'version', ARGV[4], 'step', ARGV[5], 'place', ARGV[6], 'by', ARGV[7], 'needs', ARGV[8])
return 1
