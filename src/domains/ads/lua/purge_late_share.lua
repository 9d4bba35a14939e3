-- purge_late_share.lua - deletes the keys of a share that a late write created for a deleted campaign. A share that was granted money is kept: its
-- campaign exists, or existed when the money was granted.
-- KEYS 1 share:{C.n}  2 offered:{C.n}  3…6 rank:{C.n}:SLOT
-- ARGV none
-- Returns 1 deleted | 0 kept
if redis.call('HEXISTS', KEYS[1], 'g') == 1 then return 0 end
for at = 1, 6 do redis.call('UNLINK', KEYS[at]) end
return 1
