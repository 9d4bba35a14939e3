-- forget_removed.lua - notes that a list's timeline holds nothing any more of somebody who left it.
-- KEYS 1 removed:{lid}
-- ARGV 1 user id  2 id of the removal that was swept
-- Returns 1 | 0 they have left it anew since, or were swept before
local removal = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]))
if not removal or removal > tonumber(ARGV[2]) then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
