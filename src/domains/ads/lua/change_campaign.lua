-- change_campaign.lua - changes the definition of a campaign if its version is the one that was read.
-- KEYS 1 campaign:{C}  2 keywords:{C}  3 frozen:{C}
-- ARGV 1 the version that was read  2 token of the freeze of its pool; empty without a freeze
--      3…6 the lengths of the four lists of arguments that follow: fields to write, each before its value; fields to delete; keywords to add, each
--      after the id of its addition; keywords to remove
-- Returns 1 | 0 no such campaign | -1 another version, or the freeze has ended | -2 its shares hold more than the new budget
local version, out = unpack(redis.call('HMGET', KEYS[1], 'version', 'out'))
if not version then return 0 end
if version ~= ARGV[1] then return -1 end
if ARGV[2] ~= '' and redis.call('GET', KEYS[3]) ~= ARGV[2] then return -1 end
local first, parts = 7, {}
for part = 1, 4 do
  parts[part] = {first, first + ARGV[2 + part] - 1}
  first = first + ARGV[2 + part]
end
for at = parts[1][1], parts[1][2], 2 do
  if ARGV[at] == 'budget' and tonumber(ARGV[at + 1]) < tonumber(out or 0) then return -2 end
end
local function of(part) return unpack(ARGV, parts[part][1], parts[part][2]) end
local function any(part) return parts[part][2] >= parts[part][1] end
redis.call('HSET', KEYS[1], 'version', string.format('%.0f', version + 1), of(1))
if any(2) then redis.call('HDEL', KEYS[1], of(2)) end
if any(3) then redis.call('ZADD', KEYS[2], of(3)) end
if any(4) then redis.call('ZREM', KEYS[2], of(4)) end
if ARGV[2] ~= '' then redis.call('UNLINK', KEYS[3]) end
return 1
