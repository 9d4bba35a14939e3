-- take_tokens.lua - takes tokens out of a bucket, or gives some back.
-- KEYS 1 rate:{subject}:limit
-- ARGV 1 now, ms  2 what a full bucket holds  3 how long an empty one takes to fill, ms  4 the fewest tokens to take  5 the most
--   (both negative to give back)  6 tokens of debt, which are taken whether they are there or not; absent for a bucket without debt
-- Returns how many were taken (0: there are fewer than ARGV 4)  how many are left, negative in debt  in how many ms ARGV 4 will be there
--   (0: taken)
local now, tokens, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local least, most, debt = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
-- What is missing is counted in tokens x window: each ms brings back a whole number of these, so that nothing is ever rounded away.
local full = tokens * window
local held = redis.call('HMGET', KEYS[1], 'owed', 'at', 'window')
local owed, at = tonumber(held[1]) or 0, tonumber(held[2]) or now
if held[3] and tonumber(held[3]) ~= window then
  -- The operator has set another window since.
  owed = math.ceil(owed / tonumber(held[3])) * window
end
-- A debt is a full bucket at most: what is missing never exceeds two, which a double still counts exactly.
local bound = debt and 2 * full or full
-- A clock that is behind brings nothing back and takes nothing back.
local passed = math.min(math.max(now - at, 0), 2 * window)
owed = math.max(math.min(owed, bound) - passed * tokens, 0)
if debt and debt > 0 then
  owed = owed + math.min(debt * window, bound - owed)
end
local left = math.floor((full - owed) / window)
local taken = math.min(most, left)
if taken < least then
  -- Behind a clock that ran ahead this waits for it, but no longer than the key lives.
  local missing = math.ceil((owed - full + least * window) / tokens) + math.max(at - now, 0)
  if debt and debt > 0 then
    redis.call('HSET', KEYS[1], 'owed', owed, 'at', math.max(at, now), 'window', window)
    redis.call('PEXPIRE', KEYS[1], math.ceil(owed / tokens))
  end
  return {0, left, math.min(missing, math.ceil(owed / tokens))}
end
owed = owed + taken * window
if owed <= 0 then
  redis.call('UNLINK', KEYS[1])
  return {taken, tokens, 0}
end
redis.call('HSET', KEYS[1], 'owed', owed, 'at', math.max(at, now), 'window', window)
-- A full bucket is one that is not there.
redis.call('PEXPIRE', KEYS[1], math.ceil(owed / tokens))
return {taken, left - taken, 0}
