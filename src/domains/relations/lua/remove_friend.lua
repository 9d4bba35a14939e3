-- remove_friend.lua - removes a friendship and requests: the commit, on the hash tag of the lower id.
-- KEYS 1 friends:{a}  2 friend_requests_sent:{a}  3 friend_requests_received:{a}  4 friend_slots:{a}  5 user:{a}  6 following:{a}  7 left:{a}
-- ARGV 1 b  2… the keys to remove b from: 1 to 3
-- Returns 1 | 0 there was no friendship, or it stays
local removed = 0
for at = 2, #ARGV do
  if ARGV[at] == '1' then
    removed = remove_friend()
  else
    redis.call('ZREM', KEYS[tonumber(ARGV[at])], ARGV[1])
  end
end
return removed
