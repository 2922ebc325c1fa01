-- work.lua: tables, closures, strings, recursion, floating point.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local sieve, count = {}, 0
for i = 2, 800000 do sieve[i] = true end
for i = 2, 800000 do
    if sieve[i] then
        count = count + 1
        for j = i * i, 800000, i do sieve[j] = false end
    end
end
local words = {}
for i = 1, 200000 do
    local w = "w" .. (i * 7919 % 2003)
    words[w] = (words[w] or 0) + i
end
local sum = 0.0
for i = 1, 3000000 do sum = sum + 1.0 / (i * i) end
local out = {}
for k in pairs(words) do out[#out + 1] = k end
table.sort(out)
print(fib(29), count, #out, out[1], string.format("%.9f", sum))
