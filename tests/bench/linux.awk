# The table of tests/bench/linux.sh from its linux.csv; writes the same to the file named by `summary`. Needs lib.awk.
END {
    print "boot,million instructions,croft s,qemu s,ratio" > summary
    printf "%-34s %12s %10s %10s %12s\n", "boot of Linux to its power-off", "million insns", "croft s", "qemu s", "croft/qemu"
    for (harts = 1; harts <= 4; harts *= 2) {
        name = "linux-" harts
        if (!runs[name, "croft"] || !runs[name, "qemu"])
            continue
        ours = column_median(wall, name, "croft")
        theirs = column_median(wall, name, "qemu")
        printf "%-34s %12.1f %10.2f %10.2f %12.2f\n", harts (harts == 1 ? " hart" : " harts"), instructions[name] / 1e6, ours, theirs, ours / theirs
        printf "%s,%.1f,%.4f,%.4f,%.4f\n", name, instructions[name] / 1e6, ours, theirs, ours / theirs > summary
    }
    print ""
    for (harts = 1; harts <= 4; harts *= 2) {
        name = "linux-" harts
        if (runs[name, "croft"] && runs[name, "qemu"])
            judge("wall time beside qemu-system-riscv64, harts: " harts, column_median(wall, name, "croft") / column_median(wall, name, "qemu"), "", 0.7, 0)
    }
}
