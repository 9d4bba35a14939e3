-- probe_writes.lua - changes nothing, and is refused whenever writes are, such as in a full store.
-- KEYS none
-- ARGV none
-- Returns 1
return 1
