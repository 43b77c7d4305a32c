-- Push URLs to a site that another worker owns, or that nobody has room for.
-- KEYS: sites free owners order     ARGV: prefix, site, batch, best score
local sites, free, owners, order = unpack(KEYS)
local prefix, site, batch, best = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
redis.call('RPUSH', prefix .. 'in:' .. site, batch)
redis.call('ZADD', order, 'NX', redis.call('ZCARD', order), site)
redis.call('ZADD', sites, 'GT', best, site)
if not redis.call('HGET', owners, site) then
  redis.call('ZADD', free, redis.call('ZSCORE', sites, site), site)
end
return 1
