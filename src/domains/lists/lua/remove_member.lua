-- remove_member.lua - removes a member from a list, and records that its statuses may still be in the timeline.
-- KEYS 1 members:{lid}  2 list:{lid}  3 removed:{lid}
-- ARGV 1 user id  2 id of the removal
-- Returns the id of the removal whose statuses must leave the timeline: this one, or an earlier one that is not done | 0 neither, or no such list
if redis.call('EXISTS', KEYS[2]) == 0 then return '0' end
if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then
  redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
  redis.call('HINCRBY', KEYS[2], 'edges', 1)
end
local removal = redis.call('ZSCORE', KEYS[3], ARGV[1])
return removal and string.format('%.0f', removal) or '0'
