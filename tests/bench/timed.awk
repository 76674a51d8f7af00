# The table of tests/bench/timed.sh from its timed.csv and the output of the parts' benchmarks (the file named by
# `parts`); writes the same to the file named by `summary`. Needs lib.awk.
function detailed(machine, model,    name, ours, theirs) {
    name = "mix-" machine
    if (!runs[name, "croft"] || !runs["mix", "qemu"])
        return
    ours = instructions[name] / column_median(used, name, "croft") / 1e6
    theirs = instructions[name] / column_median(used, "mix", "qemu") / 1e6
    rows = rows sprintf("%-28s %14.0f %11.1f %11.0f %9s\n", machine " (" model ")", instructions[name], ours, theirs,
                        sprintf("1/%.0f", theirs / ours))
    printf "%s,%.0f,%.2f,%.1f,%.5f\n", name, instructions[name], ours, theirs, ours / theirs > summary
    slower[machine] = theirs / ours
}

function memory(machine,    one, many) {
    one = column_median(peak, "cores-" machine "-1", "croft")
    many = column_median(peak, "cores-" machine "-17", "croft")
    judge("memory of a simulated core: " machine, (many - one) * 1024 / 16 / 1e6, "MB", 2, 0)
}

# The event queue's lines are "pending random one-clock", the DRAM engine's "standard reads (GB/s) mixed (GB/s) ...".
function parts_report(    line, field, dram) {
    while ((getline line < parts) > 0) {
        split(line, field, " ")
        if (line ~ /^memory model/)
            dram = 1
        else if (!dram && field[1] == 1000)
            judge("event queue, 1000 pending: million events", field[2] + 0, "/s", 20, 1)
        else if (dram && field[2] + 0 > 0)
            judge("DRAM " field[1] ": million random reads", field[2] + 0, "/s", 6, 1)
    }
}

END {
    print "measurement,instructions,croft,qemu,ratio" > summary
    detailed("ddr3", "in order")
    detailed("nucd", "out of order")
    printf "%-28s %14s %11s %11s %9s\n%s\n", "detailed speed, mix", "instructions", "croft MIPS", "qemu MIPS", "ratio", rows
    if ("ddr3" in slower)
        judge("ddr3: times that qemu is faster", slower["ddr3"], "", 20, 0)
    if ("nucd" in slower)
        judge("nucd: times that qemu is faster", slower["nucd"], "", 50, 0)
    if (runs["idle-1", "croft"] && runs["idle-3601", "croft"])
        judge("an idle simulated second", (column_median(used, "idle-3601", "croft") - column_median(used, "idle-1", "croft")) * 1000 / 3600,
              "ms", 1, 0)
    if (runs["cores-ddr3-17", "croft"])
        memory("ddr3")
    if (runs["cores-nucd-17", "croft"])
        memory("nucd")
    parts_report()
}
