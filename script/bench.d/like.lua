-- The full like as Redis users write it: who liked the item, how many did, what the user liked,
-- and an event for whoever comes after. ARGV: user, item, time. Everything stays a string, for a
-- Lua number costs a printf each call.
local user, item, time = ARGV[1], ARGV[2], ARGV[3]
if redis.call('SADD', 'praised_by:' .. item .. ':' .. string.sub(user, -1), user) == 0 then
    return 0
end
local likes = 'user:likes:' .. user
redis.call('HINCRBY', 'counts:' .. item, 'like', '1')
redis.call('ZADD', likes, time, item)
redis.call('ZREMRANGEBYRANK', likes, '0', '-1001')
redis.call('XADD', 'events', 'MAXLEN', '~', '1000000', '*', 'u', user, 'i', item, 't', time)
return 1
