-- count_votes.lua - sets the counts of votes of a comment from its votes, and moves it in the orders; deletes the votes on a comment that is
-- deleted or missing.
-- KEYS those of thread.lua, all of {sid}
-- ARGV 1-6 those of thread.lua  7 the most votes to read  8 and 9 the upvotes and downvotes, if the caller has counted them, else - and 0
--      10 and 11 the stored counts of both before the caller has counted
-- Returns 1 | 0 the stored counts have changed since, or there were no votes to delete | -1 there are more votes than ARGV 7
if redis.call('HEXISTS', KEYS[12], 'uid') == 0 then
  -- The author is missing in a comment that is not deleted: an operator must decide, so the votes stay.
  if redis.call('EXISTS', KEYS[12]) == 1 and redis.call('HEXISTS', KEYS[12], 'gone') == 0 then return 1 end
  return redis.call('UNLINK', KEYS[13])
end
local fields = redis.call('HMGET', KEYS[12], 'up', 'down', 'replies')
local was_up, was_down = tonumber(fields[1] or 0) or 0, tonumber(fields[2] or 0) or 0
local up, down = 0, 0
if ARGV[8] ~= '-' then
  if was_up ~= tonumber(ARGV[10]) or was_down ~= tonumber(ARGV[11]) then return 0 end
  up, down = tonumber(ARGV[8]), tonumber(ARGV[9])
else
  if redis.call('HLEN', KEYS[13]) > tonumber(ARGV[7]) then return -1 end
  local votes, odd = redis.call('HGETALL', KEYS[13]), {}
  for at = 1, #votes, 2 do
    if votes[at + 1] == '1' then up = up + 1
    elseif votes[at + 1] == '-1' then down = down + 1
    else odd[#odd + 1] = votes[at] end
  end
  if #odd > 0 then redis.call('HDEL', KEYS[13], unpack(odd)) end
end
redis.call('HSET', KEYS[12], 'up', up, 'down', down)
local before = members(ancestor(DEPTH), ARGV[2], was_up, was_down, fields[3] or 0)
for order, member in ipairs(members(ancestor(DEPTH), ARGV[2], up, down, fields[3] or 0)) do
  move(5 + order, before[order], member)
end
return 1
