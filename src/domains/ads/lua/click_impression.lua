-- click_impression.lua - counts the first click of an impression and charges it; counts every other click as invalid.
-- KEYS 1 share:{C.n}  2 holds:{C.n}  3 offered:{C.n}  4 impression:{C.n}:I  5 clicked:{C.n}:HOUR
--      6… tally:{C.n}:DAY of each day that the impression may belong to
-- ARGV 1 now, ms  2 the day  3 the impression  4 the ad
--      5 hold: charge its hold | mark: it costs nothing more | take: charge free money | the reason why the click is invalid
--      6 the amount held or charged  7 nonce of the click, the same in a retry  8 time to live of the result, ms
--      9 time to live of the set of clicked impressions, ms  10 time to live of a day's keys, ms  11… the days
-- Returns 1 counted | 0 invalid | 2 invalid, because no money is left for it | -1 no such campaign
if redis.call('HEXISTS', KEYS[1], 'v') == 0 then return -1 end
if redis.call('GET', KEYS[4]) == 'click ' .. ARGV[7] then return 1 end
local ad, counted, day_key, reason = ARGV[4], 0, 6, ARGV[5]
if reason == 'hold' or reason == 'mark' or reason == 'take' then reason = 'repeated' end
if ARGV[5] == 'mark' then
  counted = redis.call('SADD', KEYS[5], ARGV[3])
  redis.call('PEXPIRE', KEYS[5], ARGV[9])
elseif ARGV[5] == 'take' then
  begin_day()
  if redis.call('SISMEMBER', KEYS[5], ARGV[3]) == 0 then
    if free_money() >= tonumber(ARGV[6]) then
      counted = redis.call('SADD', KEYS[5], ARGV[3])
      redis.call('PEXPIRE', KEYS[5], ARGV[9])
    else
      reason = 'campaign'
      save_money()
    end
  end
elseif ARGV[5] == 'hold' then
  for at = 6, #KEYS do
    if counted == 0 then
      counted = redis.call('ZREM', KEYS[2], table.concat({ ARGV[3], ad, ARGV[6], ARGV[at + 5] }, '.'))
      day_key = at
    end
  end
end
local function count(field, by)
  if redis.call('HINCRBY', KEYS[day_key], field, by) == tonumber(by) then redis.call('PEXPIRE', KEYS[day_key], ARGV[10]) end
  redis.call('HINCRBY', KEYS[day_key], ad .. '.' .. field, by)
end
if counted == 0 then
  for _, field in ipairs({ 'x', 'x-' .. reason }) do
    redis.call('HINCRBY', KEYS[1], field, 1)
    redis.call('HINCRBY', KEYS[3], ad .. ':' .. field, 1)
    count(field, 1)
  end
  return ARGV[5] == 'take' and reason == 'campaign' and 2 or 0
end
if ARGV[5] == 'take' then money.used = money.used + ARGV[6] else money.held = money.held - ARGV[6] end
money.spent = money.spent + ARGV[6]
save_money()
redis.call('HINCRBY', KEYS[1], 'c', 1)
redis.call('HINCRBY', KEYS[3], ad .. ':c', 1)
count('c', 1)
if ARGV[6] ~= '0' then
  redis.call('HINCRBY', KEYS[3], ad .. ':s', ARGV[6])
  count('s', ARGV[6])
end
redis.call('SET', KEYS[4], 'click ' .. ARGV[7], 'PX', ARGV[8])
return 1
