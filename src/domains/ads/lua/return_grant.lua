-- return_grant.lua - gives back what a share has free, for others to draw. What it was granted and does not know of yet is of it.
-- KEYS 1 share:{C.n}  2 holds:{C.n}
-- ARGV 1 now, ms  2 the day  3 granted by the pool so far  4 of it on days before  5 the day of the rest
-- Returns what it gave back in all, its day, what it gave back of that day; none where there is no such share
if redis.call('EXISTS', KEYS[1]) == 0 then return {} end
roll()
credit(ARGV[3], ARGV[4], tonumber(ARGV[5]))
local ended = release(1000)
local back = free()
money.r, money.q = plus(money.r, back), plus(money.q, back)
save()
forget(ended)
return { money.r, text(money.day), money.q }
