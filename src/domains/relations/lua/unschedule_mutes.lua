-- unschedule_mutes.lua - replaces or removes an account's entry in the schedule, if it is still the one that was read.
-- KEYS 1 mute_schedule:{n}
-- ARGV 1 account  2 the time that was read, ms  3 the next time, ms; 0 for none
-- Returns 1 | 0 the entry has changed
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not held or tonumber(held) ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] == '0' then redis.call('ZREM', KEYS[1], ARGV[1]) else redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1]) end
return 1
