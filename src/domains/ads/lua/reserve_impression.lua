-- reserve_impression.lua - decides whether a campaign is shown, charges the impression or holds the price of its click, and counts it: one step.
-- KEYS 1 share:{C.n}  2 holds:{C.n}  3 offered:{C.n}  4 rank:{C.n}:SLOT  5 impression:{C.n}:ATTEMPT (the id of the attempt; differs
--      from ARGV 3 for a promoted status)  6 tally:{C.n}:DAY  7 reach:{C.n}  8 reached:{C.n}:DAY  then, with a visitor: 9 seen:{C.n}:V
--      and for a promoted status 10 recorded:{C.n}:T  11 that of the span before  12 that of the span after
--      and last, with a traffic origin: shown:{C.n}:ORIGIN
-- ARGV 1 now, ms  2 the day  3 the impression  4 total granted by the pool  5 part of it granted on earlier days  6 the day of the rest
--      7 minimum eCPM  8 maximum price, or empty  9 the ad, or empty for the best  10 its price, or empty for its bid
--      11 excluded ads, each between full stops  12 the visitor, or empty  13 time to live of the result, ms
--      14 time within which a click is valid, ms  15 time to live of a day's keys, ms  16 nonce of a recorded impression, or empty
--      17 time to live of the set of nonces, ms  18 1 for an impression that is invalid in any case
--      19 plausible number of impressions of the origin, empty without an origin  20 length of its window, ms
--      21 maximum number of CPC impressions of the origin with a hold  22 1 if CPM impressions of the origin are counted, too
-- Returns served AD PRICE ECPM PRICING RELIST UNTIL FUNDING | day DAY: the share is on a later day | off | capped UNTIL
--      | repeated | none | below_min_ecpm ECPM | no_money PRICE FREE GRANTED RETURNED RETURNED-OF-DAY
--      RELIST is 1 if the listings are stale. UNTIL is the end of the cap period, or 0. FUNDING: 0 the price is charged or held, 1 the impression is
--      invalid, 2 the click is unreserved: nothing is held for it. GRANTED and RETURNED are sums of the share over its life
local previous = redis.call('GET', KEYS[5])
if previous then return previous end
if money.day > DAY then return 'day ' .. text(money.day) end
local share = redis.call('HMGET', KEYS[1], 'v', 'off', 'starts', 'ends', 'cap', 'per')
if not share[1] then return 'off' end
begin_day()
book_grant(ARGV[4], ARGV[5], tonumber(ARGV[6]))
local released = release_expired(50)
local function finish(reply)
  save_money()
  remove_holds(released)
  return reply
end

local starts, ends, cap = tonumber(share[3] or 0), tonumber(share[4] or 0), tonumber(share[5] or 0)
if share[2] == '1' or starts > NOW or (ends > 0 and ends <= NOW) then return finish('off') end
local count, cap_until = 0, 0
if cap > 0 then
  if ARGV[12] == '' then return finish('capped 0') end
  local counted = redis.call('GET', KEYS[9])
  if counted then
    cap_until, count = string.match(counted, '^(%d+)%.(%d+)$')
    cap_until, count = tonumber(cap_until), tonumber(count)
    if cap_until <= NOW then cap_until, count = 0, 0 end
  end
  if count >= cap then return finish('capped ' .. text(cap_until)) end
end
local nonce = ARGV[16]
if nonce ~= '' then
  for at = 10, 12 do
    if redis.call('SISMEMBER', KEYS[at], nonce) == 1 then return finish('repeated') end
  end
end

local max_price = tonumber(ARGV[8]) or math.huge
local function choose_ad()
  local ranked = redis.call('ZRANGE', KEYS[4], 0, 199, 'REV', 'WITHSCORES')
  for at = 1, #ranked, 2 do
    local ad = ranked[at]
    local is_wanted = (ARGV[9] == '' or ARGV[9] == ad) and not string.find(ARGV[11], '.' .. ad .. '.', 1, true)
    local terms = is_wanted and redis.call('HGET', KEYS[3], ad)
    if terms then
      local pricing, bid = string.match(terms, '^(%u+) (%d+)$')
      local price = pricing == 'CPM' and tonumber(bid) or bid * 1000
      price = math.min(price, tonumber(ARGV[10]) or price)
      if price <= max_price then return ad, tonumber(ranked[at + 1]), pricing, price end
    end
  end
end
local ad, ecpm, pricing, price = choose_ad()
if not ad then return finish('none') end
if ecpm < tonumber(ARGV[7]) then return finish('below_min_ecpm ' .. text(ecpm)) end
-- An invalid impression is shown but costs nothing, and no counter that drives bids and budgets includes it.
local is_cpm = pricing == 'CPM'
local invalid, is_unreserved, origin_count, origin_until = ARGV[18] == '1', false, 0, 0
local is_counted = ARGV[19] ~= '' and (not is_cpm or ARGV[22] == '1')
if not invalid and is_counted then
  origin_until, origin_count = string.match(redis.call('GET', KEYS[#KEYS]) or '0.0', '^(%d+)%.(%d+)$')
  origin_until, origin_count = tonumber(origin_until), tonumber(origin_count)
  if origin_until <= NOW then origin_until, origin_count = NOW + ARGV[20], 0 end
  invalid = origin_count >= tonumber(ARGV[19])
  is_unreserved = not is_cpm and nonce == '' and origin_count >= tonumber(ARGV[21])
end
if invalid then price = 0 end
local click_price = price
if price > free_money() then
  return finish(table.concat({ 'no_money', text(price), text(free_money()), money.g, money.r, money.q }, ' '))
end

-- A click on a promoted status counts once, and only after its impression was recorded, so a promoted CPM impression gets a hold of 0. If the hold
-- exists, the impression was counted before.
if not invalid and not is_unreserved and (not is_cpm or nonce ~= '') then
  local hold = table.concat({ ARGV[3], ad, is_cpm and '0' or text(price), ARGV[2] }, '.')
  if redis.call('ZADD', KEYS[2], 'NX', text(NOW + ARGV[14]), hold) == 0 then return finish('repeated') end
end
-- Nothing is held for an unreserved click, although there is enough money now: one origin cannot hold a campaign's whole budget.
if is_unreserved then price = 0 end
money.used = money.used + price
if is_cpm then money.spent = money.spent + price else money.held = money.held + price end
local field = invalid and 'y' or 'i'
redis.call('HINCRBY', KEYS[1], field, 1)
local shown = redis.call('HINCRBY', KEYS[3], ad .. ':' .. field, 1)
if redis.call('HINCRBY', KEYS[6], field, 1) == 1 then redis.call('PEXPIRE', KEYS[6], ARGV[15]) end
redis.call('HINCRBY', KEYS[6], ad .. '.' .. field, 1)
if is_cpm and not invalid then
  redis.call('HINCRBY', KEYS[3], ad .. ':s', text(price))
  redis.call('HINCRBY', KEYS[6], 's', text(price))
  redis.call('HINCRBY', KEYS[6], ad .. '.s', text(price))
end
if not invalid and is_counted then
  redis.call('SET', KEYS[#KEYS], text(origin_until) .. '.' .. text(origin_count + 1), 'PX', text(origin_until - NOW))
end
if not invalid and ARGV[12] ~= '' then
  redis.call('PFADD', KEYS[7], ARGV[12])
  if redis.call('PFADD', KEYS[8], ARGV[12]) == 1 then redis.call('PEXPIRE', KEYS[8], ARGV[15]) end
end
local capped = 0
if cap > 0 then
  if count == 0 then cap_until = NOW + tonumber(share[6]) * 1000 end
  redis.call('SET', KEYS[9], text(cap_until) .. '.' .. text(count + 1), 'PX', text(cap_until - NOW))
  if count + 1 >= cap then capped = cap_until end
end
if nonce ~= '' then
  redis.call('SADD', KEYS[10], nonce)
  redis.call('PEXPIRE', KEYS[10], ARGV[17])
end
local relist = '0'
if not invalid and not is_cpm then
  local listed = tonumber(redis.call('HGET', KEYS[3], ad .. ':l') or 0)
  if shown - listed > 20 + listed / 20 then
    relist = '1'
    redis.call('HSET', KEYS[3], ad .. ':l', shown)
  end
end
local funding = invalid and '1' or is_unreserved and '2' or '0'
local reply = table.concat({ 'served', ad, text(is_unreserved and click_price or price), text(ecpm), pricing, relist, text(capped), funding }, ' ')
redis.call('SET', KEYS[5], reply, 'PX', ARGV[13])
return finish(reply)
