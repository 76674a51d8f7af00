# What the reports of tests/bench share: reading the runs, medians, bars.
BEGIN { FS = "," }

NR == 1 { next }

{
    if (!($1 in seen)) {
        seen[$1] = 1
        order[++programs] = $1
    }
    n = ++runs[$1, $3]
    wall[$1, $3, n] = $4
    used[$1, $3, n] = $5 + $6
    peak[$1, $3, n] = $7
    if ($3 == "croft")
        instructions[$1] = $8
    if ($3 == "linux")
        linux_instructions[$1] = $8
}

function median(list, count,    i, j, t) {
    for (i = 2; i <= count; i++)
        for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
            t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
        }
    return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
}

# The median of one column over the runs of a program on an emulator.
function column_median(values, name, emulator,    list, i) {
    for (i = 1; i <= runs[name, emulator]; i++)
        list[i] = values[name, emulator, i]
    return median(list, runs[name, emulator])
}

# One bar: what was measured, and whether it meets it; also to the file named by `summary`.
function judge(what, value, unit, bar, at_least,    good) {
    good = at_least ? value >= bar : value < bar
    printf "%-44s %8.2f %-3s bar: %s %g %-3s %s\n", what, value, unit, at_least ? "at least" : "under", bar, unit,
           good ? "meets" : "misses"
    printf "%s,,,,%.6g\n", what, value > summary
}
