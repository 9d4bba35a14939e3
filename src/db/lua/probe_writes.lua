-- probe_writes.lua - changes nothing, and is refused as any change is: where the store is full, or takes no changes for another reason.
-- KEYS none
-- ARGV none
-- Returns 1
return 1
