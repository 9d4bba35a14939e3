-- return_grant.lua - returns a share's free money to the pool, including grants that the share has not recorded yet.
-- KEYS 1 share:{C.n}  2 holds:{C.n}
-- ARGV 1 now, ms  2 the day  3 total granted by the pool  4 part of it granted on earlier days  5 the day of the rest
-- Returns total returned, its day, returned of that day; empty if there is no such share
if redis.call('EXISTS', KEYS[1]) == 0 then return {} end
begin_day()
book_grant(ARGV[3], ARGV[4], tonumber(ARGV[5]))
local ended = release_expired(1000)
local back = free_money()
money.r, money.q = plus(money.r, back), plus(money.q, back)
save_money()
remove_holds(ended)
return { money.r, text(money.day), money.q }
