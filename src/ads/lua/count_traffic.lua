-- count_traffic.lua - counts the clicks or impressions of a visitor or an address, unless there were as many as are plausible.
-- KEYS 1 clicker:{V} or traffic:{V}
-- ARGV 1 now, ms  2 how long they are counted together, ms  3 how many are plausible  4 how many there are
-- Returns how many there are in all then | 0 too many, and none of them was counted
local known, till, count = redis.call('GET', KEYS[1]), 0, 0
if known then
  till, count = string.match(known, '^(%d+)%.(%d+)$')
  till, count = tonumber(till), tonumber(count)
end
local now = tonumber(ARGV[1])
if till <= now then till, count = now + ARGV[2], 0 end
if count >= tonumber(ARGV[3]) then return 0 end
redis.call('SET', KEYS[1], string.format('%.0f.%.0f', till, count + ARGV[4]), 'PX', string.format('%.0f', till - now))
return count + ARGV[4]
