# The table of tests/bench/firmware.sh from its firmware.csv; writes the same to the file named by `summary`. Needs
# lib.awk.
function used_of(name, emulator) {
    return column_median(used, name, emulator)
}

# Instructions in a second on croft.
function speed(name) {
    return instructions[name] / used_of(name, "croft")
}

# One line for a program whose pace is counted in instructions.
function pace(what, name,    ours, theirs) {
    ours = speed(name) / 1e6
    theirs = instructions[name] / used_of(name, "qemu") / 1e6
    printf "%-34s %16.0f %12.0f %12.0f %8.2f\n", what, instructions[name], ours, theirs, ours / theirs
    printf "%s,%.0f,%.1f,%.1f,%.4f\n", what, instructions[name], ours, theirs, ours / theirs > summary
}

END {
    print "measurement,instructions,croft,qemu,ratio" > summary
    if (runs["loop-machine", "qemu"] && runs["loop-sv39", "qemu"]) {
        printf "%-34s %16s %12s %12s %8s\n", "compute loop", "instructions", "croft MIPS", "qemu MIPS", "ratio"
        pace("machine mode, no translation", "loop-machine")
        pace("supervisor mode, Sv39", "loop-sv39")
        print ""
    }
    if (runs["boot-1", "qemu"]) {
        printf "%-34s %16s %12s %12s %8s\n", "OpenSBI, U-Boot, poweroff", "", "croft s", "qemu s", "speed"
        for (harts = 1; harts <= 4; harts *= 2) {
            name = "boot-" harts
            if (!runs[name, "qemu"])
                continue
            ours = column_median(wall, name, "croft")
            theirs = column_median(wall, name, "qemu")
            printf "%-34s %16s %12.2f %12.2f %8.2f\n", harts (harts == 1 ? " hart" : " harts"), "", ours, theirs, theirs / ours
            printf "%s,,%.4f,%.4f,%.4f\n", name, ours, theirs, theirs / ours > summary
        }
        print ""
    }
    if (runs["loop-machine", "croft"] && runs["loop-sv39", "croft"])
        judge("Sv39's share of the untranslated speed", speed("loop-sv39") / speed("loop-machine"), "", 0.85, 1)
    for (harts = 1; harts <= 4; harts *= 2)
        if (runs["boot-" harts, "croft"])
            judge("boot and power-off, harts: " harts, column_median(wall, "boot-" harts, "croft"), "s", 2, 0)
    if (runs["log", "croft"])
        judge("--log commit to /dev/null, million lines", lines / used_of("log", "croft") / 1e6, "/s", 5, 1)
}
