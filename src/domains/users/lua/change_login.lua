-- change_login.lua - changes the login of an account and the history of its logins, if the history is still the one that was read.
-- KEYS 1 user:{id}
-- ARGV 1 the history that was read, '' for none  2 the new history  3 the new login; '' leaves it
-- Returns 1 | 0 no such account | 2 the history is another one
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if (redis.call('HGET', KEYS[1], 'logins') or '') ~= ARGV[1] then return 2 end
redis.call('HSET', KEYS[1], 'logins', ARGV[2])
if ARGV[3] ~= '' then redis.call('HSET', KEYS[1], 'login', ARGV[3]) end
return 1
