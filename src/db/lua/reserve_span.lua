-- reserve_span.lua - reserves a span of time for a worker number; each millisecond is granted once.
-- KEYS 1 worker:{n}
-- ARGV 1 now_ms  2 until_ms  3 the end of the caller's current span, 0 for none
-- Returns the first millisecond granted | 0 another process holds this number
local held = tonumber(redis.call('GET', KEYS[1]) or '0')
local now, until_ms = tonumber(ARGV[1]), tonumber(ARGV[2])
if held >= now and held ~= tonumber(ARGV[3]) then return 0 end
local from = math.max(held + 1, now)
redis.call('SET', KEYS[1], string.format('%d', math.max(until_ms, from)))
return from
