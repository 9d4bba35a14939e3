-- write_share.lua - copies the fields of a campaign that decisions need to one of its shares, unless the share has a newer copy.
-- KEYS 1 share:{C.n}  2 offered:{C.n}  3…6 rank:{C.n}:SLOT
-- ARGV 1 version  2 off, 1 or 0  3 starts, ms, 0 for at once  4 ends, ms, 0 for never  5 frequency cap, 0 for none  6 its window in seconds
--      then for each ad: its number, slot 1…4, eCPM in millionths, pricing and bid
-- Returns 1 | 0 there is a newer copy
local version = redis.call('HGET', KEYS[1], 'v')
if version and tonumber(version) > tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'v', ARGV[1], 'off', ARGV[2], 'starts', ARGV[3], 'ends', ARGV[4], 'cap', ARGV[5], 'per', ARGV[6])
local slot_of = {}
for at = 7, #ARGV, 4 do
  local ad = ARGV[at]
  slot_of[ad] = tonumber(ARGV[at + 1])
  redis.call('ZADD', KEYS[2 + slot_of[ad]], ARGV[at + 2], ad)
  redis.call('HSET', KEYS[2], ad, ARGV[at + 3], ad .. ':l', redis.call('HGET', KEYS[2], ad .. ':i') or '0')
end
for slot = 1, 4 do
  local removed, fields = {}, {}
  for _, ad in ipairs(redis.call('ZRANGE', KEYS[2 + slot], 0, 999)) do
    if slot_of[ad] ~= slot then removed[#removed + 1] = ad end
    if not slot_of[ad] then
      fields[#fields + 1] = ad
      fields[#fields + 1] = ad .. ':l'
    end
  end
  if #removed > 0 then redis.call('ZREM', KEYS[2 + slot], unpack(removed)) end
  if #fields > 0 then redis.call('HDEL', KEYS[2], unpack(fields)) end
end
return 1
