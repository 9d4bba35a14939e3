-- delete_orphan.lua - deletes a key if none of its owners exists.
-- KEYS 1 key:{tag}  2… its owners, with the same {tag}
-- ARGV none
-- Returns 1 | 0 an owner exists, or the key does not
for at = 2, #KEYS do
  if redis.call('EXISTS', KEYS[at]) == 1 then return 0 end
end
return redis.call('UNLINK', KEYS[1])
