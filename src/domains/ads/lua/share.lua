-- share.lua - what the scripts over a share's money share: it stands before each of them, and their first keys and arguments are these.
-- KEYS 1 share:{C.n}  2 holds:{C.n}
-- ARGV 1 now, ms  2 the day, of days since 1970
-- Returns nothing by itself
local NOW, DAY = tonumber(ARGV[1]), tonumber(ARGV[2])
-- The first three are sums; see `sums.lua`.
local FIELDS = { 'g', 'r', 'q', 'day', 'spent', 'held', 'used' }
local was = redis.call('HMGET', KEYS[1], unpack(FIELDS))
local money = {}
for at, field in ipairs(FIELDS) do money[field] = at <= 3 and (was[at] or '0') or tonumber(was[at] or 0) end

-- What nobody has spent and nothing is held for.
local function free()
  return minus(money.g, money.r) - money.spent - money.held
end

-- Begins a new day: what is free was granted for another one, and goes back. A clock that is behind begins none.
local function roll()
  if DAY > money.day then
    money.r, money.q, money.used, money.day = plus(money.r, free()), '0', 0, DAY
  end
end

-- Takes what the pool has granted, in all so far: up to `before` on days before `day`, the rest on it. What is of another day goes back.
local function credit(granted, before, day)
  local function take(all, is_of_today)
    local more = minus(all, money.g)
    if more <= 0 then return end
    money.g = all
    if not is_of_today then money.r = plus(money.r, more) end
  end
  take(before, false)
  take(granted, day == money.day)
end

-- Gives back what was held for clicks that did not come in time, at most so many of them. They are taken out by `forget`, last: a set that has
-- become empty is not come back to.
local function release(most)
  local ended = redis.call('ZRANGE', KEYS[2], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, most)
  for _, hold in ipairs(ended) do
    local price, day = string.match(hold, '%.(%d+)%.(%d+)$')
    money.held = money.held - price
    if tonumber(day) == money.day then money.used = money.used - price else money.r = plus(money.r, price) end
  end
  return ended
end

local function forget(ended)
  if #ended > 0 then redis.call('ZREM', KEYS[2], unpack(ended)) end
end

-- Writes what has changed.
local function save()
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

