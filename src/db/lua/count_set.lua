-- count_set.lua - reads the stored count of a set and its size at the same time.
-- KEYS 1 any:{owner}, a hash  2 any:{owner}, a sorted set
-- ARGV 1 field
-- Returns { count | nil, size } | {} the hash is missing, or one of the two is of another type
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return {} end
local kind = redis.call('TYPE', KEYS[2]).ok
if kind ~= 'zset' and kind ~= 'none' then return {} end
return { redis.call('HGET', KEYS[1], ARGV[1]), redis.call('ZCARD', KEYS[2]) }
