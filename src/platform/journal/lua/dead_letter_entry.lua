-- dead_letter_entry.lua - moves an entry to the dead letters, unless they are full.
-- KEYS 1 journal:{n}  2 due:{n}:queue  3 dead:{n}
-- ARGV 1 entry id  2 record  3 error  4 the most dead letters
-- Returns 1 | 0 full: the entry stays
if redis.call('HLEN', KEYS[3]) >= tonumber(ARGV[4]) then return 0 end
move_to_dead_letters()
return 1
