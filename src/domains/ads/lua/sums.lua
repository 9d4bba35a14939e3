-- sums.lua - arithmetic of sums that grow over the lifetime of a campaign, past 2^53: decimal strings, split before the last nine digits. The
-- scripts that handle a campaign's money are prefixed with it.
-- KEYS none
-- ARGV none
-- Returns nothing by itself
local BILLION = 1000000000

local function text(number)
  return string.format('%.0f', number)
end

local function parts(sum)
  return tonumber(string.sub(sum, 1, -10)) or 0, tonumber(string.sub(sum, -9))
end

-- The difference of two sums: exact below 2^53, which is more than any budget.
local function minus(sum, other)
  local high, low = parts(sum)
  local other_high, other_low = parts(other)
  return (high - other_high) * BILLION + (low - other_low)
end

-- A sum plus a number of at least 0.
local function plus(sum, more)
  local high, low = parts(sum)
  local rest = math.fmod(more, BILLION)
  high, low = high + (more - rest) / BILLION, low + rest
  if low >= BILLION then high, low = high + 1, low - BILLION end
  return high > 0 and string.format('%.0f%09.0f', high, low) or text(low)
end
