-- delete_user.lua - deletes an account with its password, its pending address and its tokens, if the history of its logins is still the one that was read.
-- KEYS 1 user:{id}  2… further keys of the account
-- ARGV 1 the history that was read, '' for none
-- Returns 1 | 0 the history is another one
if (redis.call('HGET', KEYS[1], 'logins') or '') ~= ARGV[1] and redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
for at = 1, #KEYS do redis.call('UNLINK', KEYS[at]) end
return 1
