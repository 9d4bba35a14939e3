-- write_friend.lua - writes the side of the account with the higher id, and releases its slot.
-- KEYS 1 friends:{a}  2 friend_requests_sent:{a}  3 friend_requests_received:{a}  4 friend_slots:{a}  5 user:{a}  6 following:{a}  7 left:{a}
-- ARGV 1 b  2 id of the friendship  3 id of a's request  4 id of b's request; 0 for none  5 most follows
-- Returns 1 | 0 no account a
local exists = redis.call('EXISTS', KEYS[5]) == 1
if exists and ARGV[2] ~= '0' then add_friend(ARGV[2], ARGV[5]) else remove_friend() end
for at = 2, 3 do
  if exists and ARGV[at + 1] ~= '0' then
    redis.call('ZADD', KEYS[at], ARGV[at + 1], ARGV[1])
  else
    redis.call('ZREM', KEYS[at], ARGV[1])
  end
end
redis.call('ZREM', KEYS[4], ARGV[1])
return exists and 1 or 0
