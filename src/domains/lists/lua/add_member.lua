-- add_member.lua - adds a member to a list: the commit.
-- KEYS 1 members:{lid}  2 list:{lid}
-- ARGV 1 user id  2 membership id  3 the most members of a list
-- Returns the id of the membership | -1 no such list | -2 the limit is reached
if redis.call('EXISTS', KEYS[2]) == 0 then return '-1' end
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if held then return string.format('%.0f', held) end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return '-2' end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('HINCRBY', KEYS[2], 'edges', 1)
return ARGV[2]
