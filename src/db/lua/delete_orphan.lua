-- delete_orphan.lua - deletes a key while none of its owners is there.
-- KEYS 1 key:{tag}  2… its owners, of the same {tag}
-- ARGV none
-- Returns 1 | 0 an owner is there, or the key is not
for at = 2, #KEYS do
  if redis.call('EXISTS', KEYS[at]) == 1 then return 0 end
end
return redis.call('UNLINK', KEYS[1])
