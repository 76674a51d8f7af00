# The table of linux_programs.sh. Needs lib.awk.
NR > 1 { count[$1, $3] = $8 }

# One half of a row: compiled (`default`) or interpreted (`off`).
function compare(name, jit,    newlib, linux, time, speed) {
    newlib = column_median(used, name, "newlib." jit)
    linux = column_median(used, name, "linux." jit)
    time = newlib / linux
    speed = time * count[name, "linux." jit] / count[name, "newlib." jit]
    times[jit] += log(time)
    speeds[jit] += log(speed)
    printf "%10.3f %9.3f %6.2f %6.2f", newlib, linux, time, speed
}

END {
    printf "%-12s %34s %34s\n", "", "compiled", "--jit=off"
    printf "%-12s %10s %9s %6s %6s%10s %9s %6s %6s\n", "program", "newlib, s", "Linux, s", "time", "speed", "newlib, s", "Linux, s", "time", "speed"
    for (p = 1; p <= programs; p++) {
        name = order[p]
        if (runs[name, "linux.off"] != rounds)
            continue
        printf "%-12s", name
        compare(name, "default")
        compare(name, "off")
        print ""
        compared++
    }
    print ""
    if (compared) {
        judge("geometric mean of times, compiled", exp(times["default"] / compared), "", 0.95, 1)
        judge("geometric mean of times, --jit=off", exp(times["off"] / compared), "", 0.95, 1)
        judge("geometric mean of speeds, compiled", exp(speeds["default"] / compared), "", 0.95, 1)
        judge("geometric mean of speeds, --jit=off", exp(speeds["off"] / compared), "", 0.95, 1)
    }
}
