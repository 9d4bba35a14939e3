-- mute_user.lua - writes a mute, or its new end: the commit.
-- KEYS 1 mutes:{a}  2 mute_ends:{a}  3 user:{a}
-- ARGV 1 b  2 mute id  3 end, ms; 0 for none  4 the most mutes  5 now, ms
-- Returns the id of the mute | -1 no account a | -2 the limit is reached
if redis.call('EXISTS', KEYS[3]) == 0 then return '-1' end
local held, ends = redis.call('ZSCORE', KEYS[1], ARGV[1]), redis.call('ZSCORE', KEYS[2], ARGV[1])
local has_ended = ends and tonumber(ends) <= tonumber(ARGV[5])
if not held then
  if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[4]) then return '-2' end
  redis.call('HINCRBY', KEYS[3], 'mutes', 1)
end
if not held or has_ended then
  redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
  held = ARGV[2]
end
if ARGV[3] == '0' then
  redis.call('ZREM', KEYS[2], ARGV[1])
else
  redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
end
redis.call('HINCRBY', KEYS[3], 'relations', 1)
return string.format('%.0f', held)
