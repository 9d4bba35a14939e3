-- dead_letter.lua - moves an entry from the journal and its queue to the dead letters.
-- KEYS 1 journal:{n}  2 due:{n}:queue  3 dead:{n} or dead:{n}:mail
-- ARGV 1 entry id  2 record  3 error, and those of the script that follows
-- Returns nothing: it begins other scripts
local function move_to_dead_letters()
  redis.call('HSET', KEYS[3], ARGV[1], ARGV[3] .. '\n' .. ARGV[2])
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('HDEL', KEYS[1], ARGV[1])
end
