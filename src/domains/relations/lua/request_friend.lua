-- request_friend.lua - requests a friendship, or accepts the request of the other account: the commit, on the hash tag of the lower id.
-- KEYS 1 friends:{a}  2 friend_requests_sent:{a}  3 friend_requests_received:{a}  4 friend_slots:{a}  5 user:{a}  6 following:{a}  7 left:{a}
-- ARGV 1 b  2 new id  3 set with the requests of the account that acts: 2 for a, 3 for b  4 1 to accept only
--   5 slot that b holds: 1 of a friend, 2 of a request, 0 none  6 most friends  7 most requests  8 most follows
-- Returns 2 became friends | 1 the request waits | 0 were friends already
--   | -1 no account a | -2 a has too many friends | -3 a has sent too many requests | -4 no request
--   | -5 b needs a slot of a friend | -6 b needs a slot of a request
if redis.call('EXISTS', KEYS[5]) == 0 then return -1 end
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
local own = tonumber(ARGV[3])
local theirs = 5 - own
if redis.call('ZSCORE', KEYS[theirs], ARGV[1]) then
  if ARGV[5] ~= '1' then return -5 end
  if redis.call('ZCARD', KEYS[1]) + redis.call('ZCARD', KEYS[4]) >= tonumber(ARGV[6]) then return -2 end
  add_friend(ARGV[2], ARGV[8])
  redis.call('ZREM', KEYS[theirs], ARGV[1])
  return 2
end
if ARGV[4] == '1' then return -4 end
if redis.call('ZSCORE', KEYS[own], ARGV[1]) then return 1 end
if own == 3 then
  if ARGV[5] ~= '2' then return -6 end
elseif redis.call('ZCARD', KEYS[2]) + redis.call('ZCARD', KEYS[4]) >= tonumber(ARGV[7]) then
  return -3
end
redis.call('ZADD', KEYS[own], ARGV[2], ARGV[1])
return 1
