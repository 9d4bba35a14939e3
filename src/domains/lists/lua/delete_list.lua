-- delete_list.lua - deletes a list: removes it from its owner's set, which is the commit, and records its id, so that a delayed write
-- cannot restore the list.
-- KEYS 1 lists:{uid}  2 dropped:{uid}  3 user:{uid}
-- ARGV 1 list id  2 now, ms  3 how long the ids of deleted lists are kept, ms  4 the most ids to keep
-- Returns 1 deleted | 2 deleted before | 0 the account has no such list
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then
  if redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 2 end
  return 0
end
-- Nothing is recorded for a deleted account: it cannot receive a list any more.
if redis.call('EXISTS', KEYS[3]) == 0 then return 1 end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
local function trim(ids)
  if #ids > 0 then redis.call('ZREM', KEYS[2], unpack(ids)) end
end
trim(redis.call('ZRANGE', KEYS[2], '-inf', ARGV[2] - ARGV[3], 'BYSCORE', 'LIMIT', 0, 100))
local over = redis.call('ZCARD', KEYS[2]) - ARGV[4]
if over > 0 then trim(redis.call('ZRANGE', KEYS[2], 0, math.min(over, 100) - 1)) end
return 1
