-- release_holds.lua - releases the holds of impressions that were not clicked in time.
-- KEYS 1 share:{C.n}  2 holds:{C.n}
-- ARGV 1 now, ms  2 the day  3 maximum number of holds
-- Returns the number of released holds
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local ended = release_expired(ARGV[3])
save_money()
remove_holds(ended)
return #ended
