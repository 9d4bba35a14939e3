-- take_tokens.lua - takes tokens from a bucket, or refunds some.
-- KEYS 1 rate:{subject}:limit
-- ARGV 1 now, ms  2 capacity  3 time in which an empty bucket fills, ms  4 the fewest tokens to take  5 the most
--   (both negative for a refund)  6 tokens of debt, taken even if they are missing; absent for a bucket without debt
-- Returns tokens taken (0: fewer than ARGV 4 are left)  tokens left, negative in debt  wait in ms until ARGV 4 are left
--   (0: taken)
local now, tokens, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local least, most, debt = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
-- Missing tokens are counted in tokens x window: each ms refills a whole number of these, so nothing is ever rounded.
local full = tokens * window
local held = redis.call('HMGET', KEYS[1], 'owed', 'at', 'window')
local owed, at = tonumber(held[1]) or 0, tonumber(held[2]) or now
if held[3] and tonumber(held[3]) ~= window then
  -- The operator has changed the window.
  owed = math.ceil(owed / tonumber(held[3])) * window
end
-- A debt is at most a full bucket: at most two buckets are missing, which a double still counts exactly.
local bound = debt and 2 * full or full
-- A clock that is behind refills nothing and takes nothing back.
local passed = math.min(math.max(now - at, 0), 2 * window)
owed = math.max(math.min(owed, bound) - passed * tokens, 0)
if debt and debt > 0 then
  owed = owed + math.min(debt * window, bound - owed)
end
local left = math.floor((full - owed) / window)
local taken = math.min(most, left)
if taken < least then
  -- If the bucket was written by a clock that was ahead, this includes the difference, at most until the key expires.
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
-- A full bucket has no key.
redis.call('PEXPIRE', KEYS[1], math.ceil(owed / tokens))
return {taken, left - taken, 0}
