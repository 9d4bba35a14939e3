-- set_audience.lua - changes the audience of a status of this author, unless it was changed meanwhile.
-- KEYS 1 status:{id}
-- ARGV 1 author's id  2 expected audience, '' for public  3 expected list, '' for none  4 new audience, '' for public  5 new list, '' for none
-- Returns 1 | 0 no such status of this author | 2 its audience is another one than expected
local was = redis.call('HMGET', KEYS[1], 'uid', 'audience', 'circle')
if was[1] ~= ARGV[1] then return 0 end
if (was[2] or '') ~= ARGV[2] or (was[3] or '') ~= ARGV[3] then return 2 end
if ARGV[4] == '' then
  redis.call('HDEL', KEYS[1], 'audience', 'circle')
else
  redis.call('HSET', KEYS[1], 'audience', ARGV[4], 'circle', ARGV[5])
end
return 1
