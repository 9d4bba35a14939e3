-- touch_server_key.lua - records that a server key was used.
-- KEYS 1 server_keys:{keys}
-- ARGV 1 name  2 digest  3 used, ms  4 the least time between two records, ms
-- Returns 1 | 0 the key was revoked, and is not created again
local record = redis.call('HGET', KEYS[1], ARGV[1])
local digest, rest, used
if record then digest, rest, used = string.match(record, '^(%S+) (%S+ %d+) (%d+)$') end
if digest ~= ARGV[2] then return 0 end
-- Of concurrent requests only one writes, and a clock that is behind undoes nothing.
if tonumber(ARGV[3]) - tonumber(used) < tonumber(ARGV[4]) then return 1 end
redis.call('HSET', KEYS[1], ARGV[1], digest .. ' ' .. rest .. ' ' .. ARGV[3])
return 1
