# The table of tests/bench/run.sh from its runs.csv; writes the same to the file named by `summary`. Needs lib.awk.
END {
    print "program,instructions,croft_mips,qemu_mips,ratio,compiled_mips,compiled_ratio,linux_mips,linux_over_croft" > summary
    printf "%-14s %16s %12s %12s %8s %14s %8s %11s %12s\n", "program", "instructions", "croft MIPS", "qemu MIPS", "ratio", "compiled MIPS",
           "ratio", "Linux MIPS", "Linux/croft"
    for (p = 1; p <= programs; p++) {
        name = order[p]
        if (name == "start-up" || !runs[name, "qemu"])
            continue
        ours = instructions[name] / column_median(used, name, "croft") / 1e6
        theirs = instructions[name] / column_median(used, name, "qemu") / 1e6
        compiled = instructions[name] / column_median(used, name, "compiled") / 1e6
        linux = linux_instructions[name] / column_median(used, name, "linux") / 1e6
        printf "%-14s %16.0f %12.0f %12.0f %8.2f %14.0f %8.2f %11.0f %12.2f\n", name, instructions[name], ours, theirs,
               ours / theirs, compiled, compiled / theirs, linux, linux / ours
        printf "%s,%.0f,%.1f,%.1f,%.4f,%.1f,%.4f,%.1f,%.4f\n", name, instructions[name], ours, theirs, ours / theirs, compiled,
               compiled / theirs, linux, linux / ours > summary
        logs += log(ours / theirs)
        compiled_logs += log(compiled / theirs)
        linux_logs += log(linux / ours)
        compared++
    }
    print ""
    if (compared) {
        judge("geometric mean of the ratios", exp(logs / compared), "", 0.5, 1)
        judge("geometric mean of the ratios, compiled", exp(compiled_logs / compared), "", 2.5, 1)
        judge("geometric mean of Linux/croft", exp(linux_logs / compared), "", 0.98, 1)
    }
    if (runs["start-up", "croft"]) {
        judge("start-up: wall time of a trivial program", column_median(wall, "start-up", "croft") * 1000, "ms", 5, 0)
        judge("start-up: its peak resident memory", column_median(peak, "start-up", "croft") * 1024 / 1e6, "MB", 16, 0)
    }
}
