-- release_holds.lua - gives back what was held for clicks that did not come in time.
-- KEYS 1 share:{C.n}  2 holds:{C.n}
-- ARGV 1 now, ms  2 the day  3 how many at most
-- Returns how many there were
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local ended = release(ARGV[3])
save()
forget(ended)
return #ended
