-- read_texts.lua - reads which rows of a range are texts that are not deleted. Writes nothing.
-- KEYS the first ten of chat.lua, all of {c}
-- ARGV 1 first bucket, which is not used  2 first row  3 last row  4 the most bytes that are read
-- Returns {row of the first bit, the bits} | {} no such chat
local chat = fetch()
if not chat then return {} end
local first = math.max(0, math.floor((tonumber(ARGV[2]) - chat.first_bit) / 8))
local last = math.min(math.floor((tonumber(ARGV[3]) - chat.first_bit) / 8), first + tonumber(ARGV[4]) - 1)
if last < first then return { int(chat.first_bit + first * 8), '' } end
return { int(chat.first_bit + first * 8), redis.call('GETRANGE', KEYS[5], first, last) }
