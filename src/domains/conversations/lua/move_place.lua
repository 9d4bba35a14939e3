-- move_place.lua - moves a reply in the order by likes. A deleted one stays where it is.
-- KEYS those of place.lua, all of {root}
-- ARGV 1 reply's id, 7 bytes  2 its number of likes
-- Returns 1 | 0 there is no such reply
local place, likes = read(ARGV[1]), tonumber(ARGV[2])
if not place or place.deleted or place.depth == 0 then return 0 end
if place.likes ~= likes then
  redis.call('ZADD', KEYS[3], 0, likes_member(place, likes))
  redis.call('ZREM', KEYS[3], likes_member(place, place.likes))
  place.likes = likes
  write(place)
end
return 1
