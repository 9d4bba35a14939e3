-- purge_texts.lua - stops counting texts of a deleted account as unread, before their rows are emptied.
-- KEYS the first ten of chat.lua, all of {c}
-- ARGV 1 first bucket, which is not used  2 account  3 the most texts
-- Returns the number of texts
local chat = fetch()
if not chat then return 0 end
local own = bytes(ARGV[2])
local texts = redis.call('ZRANGE', KEYS[7], '[' .. own, '[' .. own .. string.rep('\255', 7), 'BYLEX', 'LIMIT', 0, ARGV[3])
if #texts == 0 then return 0 end
for _, text in ipairs(texts) do
  local number = 0
  for at = 8, 14 do number = number * 256 + string.byte(text, at) end
  redis.call('SETBIT', KEYS[5], bit_of(chat, number), 0)
end
redis.call('ZREM', KEYS[7], unpack(texts))
if redis.call('HINCRBY', KEYS[8], ARGV[2], -#texts) <= 0 then redis.call('HDEL', KEYS[8], ARGV[2]) end
return #texts
