-- forget_share.lua - takes away what somebody was late to write of a campaign that is gone. One that was given money is a campaign's that is there.
-- KEYS 1 share:{C.n}  2 offered:{C.n}  3…6 rank:{C.n}:SLOT
-- ARGV none
-- Returns 1 | 0 it stays
if redis.call('HEXISTS', KEYS[1], 'g') == 1 then return 0 end
for at = 1, 6 do redis.call('UNLINK', KEYS[at]) end
return 1
