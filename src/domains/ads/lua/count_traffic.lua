-- count_traffic.lua - counts clicks or impressions of a visitor or an address up to a plausible number in a window.
-- KEYS 1 clicker:{V} or traffic:{V}
-- ARGV 1 now, ms  2 length of the window, ms  3 the plausible number  4 how many to count; a negative number takes counts back
-- Returns 1 counted | 0 not counted: the plausible number is reached, or ARGV 4 would make the count negative
local now, by = tonumber(ARGV[1]), tonumber(ARGV[4])
local till, count = string.match(redis.call('GET', KEYS[1]) or '0.0', '^(%d+)%.(%d+)$')
till, count = tonumber(till), tonumber(count)
if till <= now then till, count = now + ARGV[2], 0 end
if by > 0 and count >= tonumber(ARGV[3]) or count + by < 0 then return 0 end
redis.call('SET', KEYS[1], string.format('%.0f.%.0f', till, count + by), 'PX', string.format('%.0f', till - now))
return 1
