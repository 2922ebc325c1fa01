-- work.lua: tables, closures, coroutines, metatables, patterns, errors.
local function generator(n)
    return coroutine.wrap(function()
        for i = 1, n do coroutine.yield(i * i) end
    end)
end
local sum = 0
for v in generator(1000) do sum = sum + v end
print(sum, #string.rep("ab", 50), 7 // 2, 7 / 2, 2 ^ 10, 10 % 3)
local words = {}
for w in ("the cat and the dog"):gmatch("%a+") do words[w] = (words[w] or 0) + 1 end
local keys = {}
for k in pairs(words) do keys[#keys + 1] = k end
table.sort(keys)
for _, k in ipairs(keys) do io.write(k, "=", words[k], " ") end
print()
local Vec = {}
Vec.__index = Vec
Vec.__add = function(a, b) return setmetatable({x = a.x + b.x}, Vec) end
print((setmetatable({x = 1}, Vec) + setmetatable({x = 2}, Vec)).x)
print(pcall(error, {code = 3}) and "?" or "caught", select("#", pcall(error, "message")))
print(string.format("%5.2f|%-5s|%05d|%x|%q", 3.14159, "ab", 42, 255, "a\nb"))
local t = {}
for i = 1, 20000 do t[i] = (i * 7919) % 10007 end
table.sort(t)
print(t[1], t[10000], t[20000], math.maxinteger, math.tointeger(3.0))
os.exit(8)
