-- sums.lua - arithmetic of sums that grow for as long as a campaign lives, past 2^53: texts of digits, of which the last nine are taken apart. It
-- stands before the scripts over a campaign's money.
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

-- How much more a sum is than another: exact below 2^53, which is more than any budget.
local function minus(sum, other)
  local high, low = parts(sum)
  local other_high, other_low = parts(other)
  return (high - other_high) * BILLION + (low - other_low)
end

-- A sum and so much more, nothing or above.
local function plus(sum, more)
  local high, low = parts(sum)
  local rest = math.fmod(more, BILLION)
  high, low = high + (more - rest) / BILLION, low + rest
  if low >= BILLION then high, low = high + 1, low - BILLION end
  return high > 0 and string.format('%.0f%09.0f', high, low) or text(low)
end
