-- Requests of one kind from a file, for wrk: LOAD_KIND=check|add|search, LOAD_FILE=posts.jsonl|words.txt.
-- Made for one thread; documents get keys of their own.

local kind = os.getenv("LOAD_KIND")
local lines = {}
for line in io.lines(os.getenv("LOAD_FILE")) do
  lines[#lines + 1] = line
end

local started = os.time()
local at, count = 0, 0
math.randomseed(started)

local function escape(text)
  return (text:gsub("[^%w]", function(byte) return string.format("%%%02X", byte:byte()) end))
end

-- The words of a post in another order are a post nobody has seen; every tenth is one that is stored.
local function body(key)
  local line = lines[at]
  if count % 10 > 0 then
    local words = {}
    for word in line:match('"text": "(.-)"'):gmatch("%S+") do words[#words + 1] = word end
    for last = #words, 2, -1 do
      local other = math.random(last)
      words[last], words[other] = words[other], words[last]
    end
    line = '{"id": "", "text": "' .. table.concat(words, " ") .. '"}'
  end
  return (line:gsub('^{"id": "[^"]*"', '{"id":"' .. key .. '"', 1))
end

local json = { ["Content-Type"] = "application/json" }
local function posted()
  at = at % #lines + 1
  count = count + 1
  local key = string.format("https://load.example/%s/%d/%d", kind, started, count)
  local path = kind == "add" and "/v1/documents" or "/v1/check"
  return wrk.format("POST", path, json, body(key))
end

-- What is only asked may be asked again: made beforehand, so that making it does not limit the load.
local made = {}
function init()
  if kind == "check" then
    for number = 1, #lines do made[number] = posted() end
  end
end

function request()
  if kind == "add" then return posted() end
  count = count + 1
  if kind == "check" then return made[count % #made + 1] end
  -- One word, or two.
  local query = lines[math.random(#lines)]
  if count % 2 == 0 then query = query .. " " .. lines[math.random(100)] end
  return wrk.format("GET", "/v1/search?limit=10&q=" .. escape(query))
end

function done(summary, latency)
  local seconds = summary.duration / 1e6
  local errors = summary.errors
  io.write(string.format("%.0f %.3f %.3f %d\n", summary.requests / seconds,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status + errors.timeout + errors.read + errors.write + errors.connect))
end
