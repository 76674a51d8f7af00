# Prints the tables of nupim.sh from its rows: NAME MACHINE TIME(fs) INSTRUCTIONS BUSIEST FLITS PAIRS LONGEST BUFFERED IO ENERGY VARIATION, and
# NAME kernel KERNEL LAUNCHES BLOCKS PAGES INSTRUCTIONS PS_AVG PS_MAX, and the same of all kernels as NAME sharing PAPER LAUNCHES ...;
# epoch: in ns. Sharing is low if no page is accessed by more than a tenth of the blocks. PAPER is the paper's class, by which pages
# are placed and means are taken.

$2 == "kernel" {
    kernels[$1] = kernels[$1] sprintf("  %-24s %8d %7d %7d %8.2f %7d\n", $3, $4, $5, $6, $8, $9)
    next
}

$2 == "sharing" {
    class[$1] = $3; launches[$1] = $4; blocks[$1] = $5; pages[$1] = $6; average[$1] = $8; most[$1] = $9
    ours[$1] = 10 * $9 > $5 ? "high" : "low"
    next
}

{
    if (!($1 in seen)) { seen[$1]; names[++count] = $1 }
    if (!($2 in known)) { known[$2]; machines[++kinds] = $2 }
    busy[$1, $2] = $3; insns[$1, $2] = $4; busiest[$1, $2] = $5; flits[$1, $2] = $6; pairs[$1, $2] = $7
    longest[$1, $2] = $8; buffered[$1, $2] = $9; io[$1, $2] = $10; energy[$1, $2] = $11; variation[$1, $2] = $12
}

# The gain of a machine over Base in percent, in thread-instructions a clock.
function gain(name, machine) {
    return 100 * ((insns[name, machine] / busy[name, machine]) / (insns[name, "nupim"] / busy[name, "nupim"]) - 1)
}

function print_sharing(    i, name) {
    printf "%-26s %8s %7s %7s %8s %7s  %-7s  %s\n", "", "launches", "blocks", "pages", "PS_avg", "PS_max", "sharing", "paper"
    for (i = 1; i <= count; i++) {
        name = names[i]
        if (name in class)
            printf "%-26s %8d %7d %7d %8.2f %7d  %-7s  %s\n%s", name, launches[name], blocks[name], pages[name], average[name], most[name],
                ours[name], class[name], kernels[name]
    }
    print ""
}

function print_runs(    i, k, name, machine, epochs) {
    printf "%-14s %-16s %8s %6s %7s %7s %8s %8s %6s %8s %8s %9s %6s\n", "", "machine", "time us", "IPC", "rel.", "epochs", "busiest",
        "links MB", "pairs", "longest", "I/O uJ", "buffered", "nodes"
    for (i = 1; i <= count; i++)
        for (k = 1; k <= kinds; k++) {
            name = names[i]; machine = machines[k]
            if (!((name, machine) in busy))
                continue
            epochs = busy[name, machine] / (epoch * 1e6)
            printf "%-14s %-16s %8.1f %6.0f %+6.1f%% %7.1f %7.0f%% %8.1f %6d %8d %8.0f %8.0f%% %5.1f%%%s\n", name, machine,
                busy[name, machine] / 1e9, insns[name, machine] / (busy[name, machine] * 1.4e-6),
                ("nupim" in known) ? gain(name, machine) : 0, epochs, 100 * busiest[name, machine] / (busy[name, machine] / 4e5),
                flits[name, machine] * 32 / 1e6, pairs[name, machine], longest[name, machine], io[name, machine] / 1e9,
                100 * buffered[name, machine], 100 * variation[name, machine], class[name] == "high" && epochs < 30 ? "  fewer than 30 epochs" : ""
        }
    print ""
}

# Prints the means (arithmetic, of the gains) and the largest of a class beside the paper's.
function print_class(which,    i, k, name, machine, sum, largest, number) {
    printf "%-14s", which ", mean"
    for (k = 1; k <= kinds; k++) {
        sum = number = 0
        for (i = 1; i <= count; i++)
            if (class[names[i]] == which) { sum += gain(names[i], machines[k]); number++ }
        printf " %9s", number ? sprintf("%+.1f%%", sum / number) : "-"
    }
    printf "\n%-14s", which ", largest"
    for (k = 1; k <= kinds; k++) {
        largest = "-"
        for (i = 1; i <= count; i++)
            if (class[names[i]] == which && (largest == "-" || gain(names[i], machines[k]) > largest))
                largest = gain(names[i], machines[k])
        printf " %9s", largest == "-" ? "-" : sprintf("%+.1f%%", largest)
    }
    printf "\n%-14s", "  paper"
    for (k = 1; k <= kinds; k++) {
        machine = machines[k]; sub(/^nupim_?/, "", machine)
        printf " %9s", (machine, which) in said ? said[machine, which] : "-"
    }
    print ""
}

function print_relative(    i, k, machine, sum, number, least) {
    printf "%-14s", "IPC over Base"
    for (k = 1; k <= kinds; k++) {
        machine = machines[k]; sub(/^nupim_?/, "", machine)
        printf " %9s", machine == "" ? "Base" : machine
    }
    print ""
    for (i = 1; i <= count; i++) {
        printf "%-14s", names[i]
        for (k = 1; k <= kinds; k++)
            printf " %+8.1f%%", gain(names[i], machines[k])
        print ""
    }
    said["dist", "high"] = "<=3"; said["crit", "high"] = "5 (15)"; said["crit_tr", "high"] = "16 (33)"
    said["crit_tr_w", "high"] = "6 (30)"; said["double", "high"] = "<crit_tr"; said["central", "high"] = "<=25"
    said["dist", "low"] = said["crit", "low"] = said["crit_tr", "low"] = said["crit_tr_w", "low"] = said["double", "low"] = "0"
    said["central", "low"] = "<0"
    print_class("high")
    print_class("low")
    print ""
}

# The ratio of a quantity between two machines: its mean and largest in percent more, beside the paper's text.
function print_ratio(text, quantity, over, base, which, paper,    i, name, ratio, sum, number, high, low) {
    if (!(over in known) || !(base in known))
        return
    high = -1e9; low = 1e9
    for (i = 1; i <= count; i++) {
        name = names[i]
        if (which != "" && class[name] != which)
            continue
        ratio = quantity == "flits" ? flits[name, over] / flits[name, base] : \
            quantity == "io" ? io[name, over] / io[name, base] : energy[name, over] / energy[name, base]
        ratio = 100 * (ratio - 1)
        sum += ratio; number++
        high = ratio > high ? ratio : high; low = ratio < low ? ratio : low
    }
    if (number)
        printf "%-58s mean %+.1f%%, %+.1f to %+.1f%%; paper: %s\n", text, sum / number, low, high, paper
}

END {
    print_sharing()
    print_runs()
    if (!("nupim" in known))
        exit
    print_relative()
    print_ratio("bytes between modules, nupim over central, high sharing:", "flits", "nupim", "nupim_central", "high", "up to +88%")
    print_ratio("the same, low sharing:", "flits", "nupim", "nupim_central", "low", "less")
    print_ratio("I/O energy, crit_tr_w over Base:", "io", "nupim_crit_tr_w", "nupim", "", "-78%")
    print_ratio("energy of the system, crit_tr_w over Base:", "energy", "nupim_crit_tr_w", "nupim", "", "-8%, down to -29%")
    print_ratio("energy of the system, crit_tr over Base:", "energy", "nupim_crit_tr", "nupim", "", "cfd more, streamcluster less")
}
