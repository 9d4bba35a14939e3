-- count_click.lua - counts the clicks of a visitor.
-- KEYS 1 clicker:{V}
-- ARGV 1 now, ms  2 how long they are counted together, ms  3 how many are plausible
-- Returns 1 plausible | 0
local known, till, count = redis.call('GET', KEYS[1]), 0, 0
if known then
  till, count = string.match(known, '^(%d+)%.(%d+)$')
  till, count = tonumber(till), tonumber(count)
end
if till <= tonumber(ARGV[1]) then till, count = ARGV[1] + ARGV[2], 0 end
if count >= tonumber(ARGV[3]) then return 0 end
redis.call('SET', KEYS[1], string.format('%.0f.%d', till, count + 1), 'PX', ARGV[2])
return 1
