-- block_user.lua - writes a block: the commit.
-- KEYS 1 blocks:{a}  2 user:{a}
-- ARGV 1 b  2 block id  3 the most blocks
-- Returns the id of the block | -1 no account a | -2 the limit is reached
if redis.call('EXISTS', KEYS[2]) == 0 then return '-1' end
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if held then return string.format('%.0f', held) end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return '-2' end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('HINCRBY', KEYS[2], 'blocks', 1)
redis.call('HINCRBY', KEYS[2], 'relations', 1)
return ARGV[2]
