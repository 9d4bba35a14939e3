-- share.lua - functions for the money of a share. The scripts that handle it are prefixed with this file and take its keys and arguments first.
-- KEYS 1 share:{C.n}  2 holds:{C.n}
-- ARGV 1 now, ms  2 the day, in days since 1970
-- Returns nothing by itself
local NOW, DAY = tonumber(ARGV[1]), tonumber(ARGV[2])
-- The first three are sums of `sums.lua`.
local FIELDS = { 'g', 'r', 'q', 'day', 'spent', 'held', 'used' }
local was = redis.call('HMGET', KEYS[1], unpack(FIELDS))
local money = {}
for at, field in ipairs(FIELDS) do money[field] = at <= 3 and (was[at] or '0') or tonumber(was[at] or 0) end

-- The money that is neither spent nor held nor returned.
local function free_money()
  return minus(money.g, money.r) - money.spent - money.held
end

-- Begins a new day: free money was granted for an earlier day and is returned. A clock that is behind begins no day.
local function begin_day()
  if DAY > money.day then
    money.r, money.q, money.used, money.day = plus(money.r, free_money()), '0', 0, DAY
  end
end

-- Books the total that the pool has granted: `before` on days before `day`, the rest on `day`. Money of another day is returned.
local function book_grant(granted, before, day)
  local function take(all, is_of_today)
    local more = minus(all, money.g)
    if more <= 0 then return end
    money.g = all
    if not is_of_today then money.r = plus(money.r, more) end
  end
  take(before, false)
  take(granted, day == money.day)
end

-- Releases at most `most` expired holds. `remove_holds` deletes them from the set at the end of the script: a script must not use a set after it has
-- removed the last member.
local function release_expired(most)
  local ended = redis.call('ZRANGE', KEYS[2], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, most)
  for _, hold in ipairs(ended) do
    local price, day = string.match(hold, '%.(%d+)%.(%d+)$')
    money.held = money.held - price
    if tonumber(day) == money.day then money.used = money.used - price else money.r = plus(money.r, price) end
  end
  return ended
end

local function remove_holds(ended)
  if #ended > 0 then redis.call('ZREM', KEYS[2], unpack(ended)) end
end

-- Writes the fields that have changed.
local function save_money()
  local changes = {}
  for at, field in ipairs(FIELDS) do
    local is = at <= 3 and money[field] or text(money[field])
    if is ~= (was[at] or '0') then
      changes[#changes + 1] = field
      changes[#changes + 1] = is
    end
  end
  if #changes > 0 then redis.call('HSET', KEYS[1], unpack(changes)) end
end

