-- What there is to see of a run.     KEYS: totals owners workers sites
-- Returns {now (ms), {name, sum...}, {worker, end of its lease (ms)...}, open sites,
--          sites that are owned by a number of names: {worker, how many...}}.
local totals, owners, workers, sites = unpack(KEYS)
local clock = redis.call('TIME')
local all, count, counts = redis.call('HVALS', owners), {}, {}
for _, owner in ipairs(all) do
  local name = owner:match('^%d+|(.*)$')
  if name then count[name] = (count[name] or 0) + 1 end
end
for name, number in pairs(count) do
  counts[#counts + 1] = name
  counts[#counts + 1] = number
end
return {
  clock[1] * 1000 + math.floor(clock[2] / 1000), redis.call('HGETALL', totals),
  redis.call('ZRANGE', workers, 0, -1, 'WITHSCORES'), redis.call('ZCARD', sites), counts,
}
