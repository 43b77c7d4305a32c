-- Append to the journals of sites that a worker owns, and renew its lease.
-- KEYS: id sites free owners pauses workers totals commits resting
-- ARGV: id, prefix, worker, lease (ms), pause (ms), number of this commit,
--       how many counters, (name, amount)..., then for each site: site, epoch,
--       best pending score or '', awake or rests, change of pending, change of done,
--       keep, or let go to rest or to be free at once, append or replace, how many
--       of what others pushed are in the journal by now, how many batches, batch...
-- Returns {each counter's sum, and for each site 0 (lost: nothing was written) or what
-- others pushed to it}. A commit that comes again, as its answer was lost, adds nothing.
local id, sites, free, owners, pauses, workers, totals, commits, resting = unpack(KEYS)
local prefix, worker = ARGV[2], ARGV[3]
local lease, pause, number = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
if redis.call('GET', id) ~= ARGV[1] then return redis.error_reply('GONE') end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZADD', workers, now + lease, worker)
local again = tonumber(redis.call('HGET', commits, worker) or 0) >= number
redis.call('HSET', commits, worker, number)

local function add(name, amount)
  if not again and tonumber(amount) ~= 0 then
    redis.call('HINCRBY', totals, name, amount)
  end
end

local sums = {}
local i = 8
for _ = 1, ARGV[7] do
  local name = 'counter/' .. ARGV[i]
  add(name, ARGV[i + 1])
  sums[#sums + 1] = tonumber(redis.call('HGET', totals, name) or 0)
  i = i + 2
end

local answers = {}
while i <= #ARGV do
  local site, epoch, best, rests, pending, done = unpack(ARGV, i, i + 5)
  local goes, replace = ARGV[i + 6], ARGV[i + 7] == 'replace'
  local heard = tonumber(ARGV[i + 8])
  local first, last = i + 10, i + 9 + ARGV[i + 9]
  i = last + 1
  local owner = redis.call('HGET', owners, site)
  local ours = owner == epoch .. '|' .. worker
  if not ours and not (again and goes == 'rest' and owner == '|' .. worker) then
    answers[#answers + 1] = 0
  else
    local journal, inbox = prefix .. 'site:' .. site, prefix .. 'in:' .. site
    if not again then
      if replace then redis.call('DEL', journal) end
      for n = first, last do redis.call('RPUSH', journal, ARGV[n]) end
      if heard > 0 then redis.call('LTRIM', inbox, heard, -1) end
    end
    add('pending', pending)
    add('done', done)
    add('done/' .. worker, done)
    local others = redis.call('LRANGE', inbox, 0, -1)
    if best == '' then
      redis.call('ZREM', sites, site)
    else
      redis.call('ZADD', sites, best, site)
    end
    local set = (best ~= '' and rests == 'rests') and 'SADD' or 'SREM'
    redis.call(set, resting, site)
    if goes == 'free' and #others == 0 then
      redis.call('HDEL', owners, site)
      if best ~= '' then
        redis.call('ZADD', free, rests == 'rests' and '-inf' or best, site)
      end
    elseif goes == 'rest' and #others == 0 then
      -- nobody else before the pause is over: its last page may be a moment old
      redis.call('HSET', owners, site, '|' .. worker)
      redis.call('ZADD', pauses, now + pause, site)
    end
    answers[#answers + 1] = others
  end
end
return {sums, answers}
