-- remove_finished_removal.lua - deletes the record of the removal of a member whose statuses have left the timeline.
-- KEYS 1 removed:{lid}
-- ARGV 1 user id  2 id of the removal that is done
-- Returns 1 | 0 the account was removed again since, or the record was deleted before
local removal = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]))
if not removal or removal > tonumber(ARGV[2]) then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
