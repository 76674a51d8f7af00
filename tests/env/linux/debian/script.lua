local t = {}
for i = 1, 1000 do t[i] = (i * 7919) % 1000 end
table.sort(t)
print(t[1], t[500], t[1000], #t)
for line in io.lines("lines") do
    local n = line:match("line (%d+)")
    if tonumber(n) % 100 == 0 then print(n) end
end
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
print(co(), co(), co(), pcall(error, "x"))
print(string.format("%5.3f %q %x", math.pi, "a\n", 255), 7 // 2, 2 ^ 53, 1 << 40)
local f = io.open("written", "w")
f:write(("x"):rep(10000))
f:close()
os.rename("written", "renamed")
print(os.time({ year = 2000, month = 1, day = 1, hour = 12 }) ~= nil)
os.exit(2)
