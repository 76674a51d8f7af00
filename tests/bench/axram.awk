# Tables of the AxRAM paper's figures 1, 7, 8 and 10 to 12, from the rows of axram.sh: application, way, and what `columns` there says.
# Energies of commands and bits are the machine's (derived from a data sheet) and, again, those of the paper's Table 2: 22.5 pJ for each
# bit of a row of 2 KiB, 12.5 pJ for a bit read or written, 12.5 + 18 pJ for one over the pins.
{
    if (!($1 in known)) { known[$1]; names[++count] = $1 }
    k = $1 SUBSEP $2
    time[k] = $3; all[k] = $4; dram[k] = $5; background[k] = $6; units[k] = $7; crossbar[k] = $8
    banks[k] = $9; columns[k] = $10; bits[k] = $11 + $12; pins[k] = $13
    array[k] = ($9 * 16384 * 22.5 + ($11 + $12) * 12.5) / 1000     # nJ, by Table 2
    io[k] = $13 * (12.5 + 18) / 1000
    sheet_io[k] = $13 * 18 / 1000
    paper[k] = all[k] - dram[k] + background[k] + array[k] + io[k]
}

# The value of figure `what` for one application and way.
function value(what, app, way,   k) {
    k = app SUBSEP way
    if (what == "time") return time[k]
    if (what == "energy") return all[k]
    if (what == "paper energy") return paper[k]
    if (what == "bandwidth") return pins[k] / 8 / time[k]
    if (what == "hits") return 1 - banks[k] / columns[k]
    if (what == "power") return (dram[k] - sheet_io[k] + units[k]) / time[k]
    if (what == "paper power") return (background[k] + array[k] + units[k]) / time[k]
    if (what == "transfer") return sheet_io[k] + crossbar[k]
    if (what == "system") return dram[k] - sheet_io[k]
    if (what == "compute") return all[k] - dram[k] - crossbar[k]
    if (what == "paper transfer") return io[k] + crossbar[k]
    if (what == "paper system") return background[k] + array[k]
}

function heading(title, columns,   n, head, i) {
    n = split(columns, head, ",")
    printf "\n%s\n%-14s", title, "application"
    for (i = 1; i <= n; i++) printf " %11s", head[i]
    print ""
}

# ratios(TITLE, WHAT, PAIRS, HEADS, PAPER): `pairs` names ways, over,under over,under; prints the quotient of each for each application.
function ratios(title, what, pairs, heads, said,   n, pair, way, i, a, r, sum, logs) {
    heading(title, heads)
    n = split(pairs, pair, " ")
    for (a = 1; a <= count; a++) {
        printf "%-14s", names[a]
        for (i = 1; i <= n; i++) {
            split(pair[i], way, ",")
            r = value(what, names[a], way[1]) / value(what, names[a], way[2])
            sum[i] += r; logs[i] += log(r); printf " %11.2f", r
        }
        print ""
    }
    printf "%-14s", "arithmetic"; for (i = 1; i <= n; i++) printf " %11.2f", sum[i] / count
    printf "\n%-14s", "geometric"; for (i = 1; i <= n; i++) printf " %11.2f", exp(logs[i] / count)
    print ""
    if (said != "")
        printf "%-14s%s\n", "the paper", said
}

# shares(TITLE, HEADS, PAPER): figure 1.
function shares(title, heads, said,   a, i, s, way, n, sum, g) {
    heading(title, heads)
    for (a = 1; a <= count; a++) {
        g = names[a]
        s[1] = 1 - time[g, "free_gpu"] / time[g, "gpu"]; s[2] = 1 - time[g, "free_ngpu"] / time[g, "ngpu"]
        s[3] = value("transfer", g, "gpu") / all[g, "gpu"]; s[4] = value("transfer", g, "ngpu") / all[g, "ngpu"]
        s[5] = (value("paper transfer", g, "gpu") + value("paper system", g, "gpu")) / paper[g, "gpu"]
        s[6] = (value("paper transfer", g, "ngpu") + value("paper system", g, "ngpu")) / paper[g, "ngpu"]
        printf "%-14s", g
        for (i = 1; i <= 6; i++) { sum[i] += s[i]; printf " %10.1f%%", 100 * s[i] }
        print ""
    }
    printf "%-14s", "arithmetic"; for (i = 1; i <= 6; i++) printf " %10.1f%%", 100 * sum[i] / count
    printf "\n%-14s%s\n", "the paper", said
}

# The paper's areas with three metal layers, and what its sentence about them does not fit.
function table3(   i, n, unit, area, sum) {
    n = split("SHA FxP FP", unit, " "); split("0.15 0.76 0.97", area, " ")
    print "\nTable 3, mm2 with three metal layers: 32 units, 64 registers 0.06, 32 sigmoid tables 0.34, controller 0.40"
    for (i = 1; i <= n; i++) {
        sum[i] = area[i] + 0.06 + 0.34 + 0.40
        printf "%-14s %11.2f %11.2f %10.2fx\n", unit[i], area[i], sum[i], sum[i] / sum[1]
    }
    printf "the paper      1.28 with power and clock, %.2f times SHA's sum, 2.1%% of 61.6; FxP 2.0x, FP 2.4x\n", 1.28 / sum[1]
}

END {
    shares("Figure 1: share of time without which a free memory does; of energy in pins and crossbar; and by Table 2, with the memory's",
        "GPU time,NGPU time,GPU energy,NGPU energy,GPU Table 2,NGPU Table 2",
        "         42%         83%         39%         85%         39%         85%")
    ratios("Figures 7a, 10a: faster than the GPU; than NGPU", "time",
        "gpu,ngpu gpu,sha gpu,fxp gpu,fp gpu,six gpu,staged ngpu,sha ngpu,fxp ngpu,fp",
        "NGPU,SHA,FxP,FP,SHA 6 chips,SHA staged,SHA/NGPU,FxP/NGPU,FP/NGPU",
        "                    2.6                                                     1.1         2.0         2.0")
    ratios("The same with axram.columns=paper, and with axram.held=32", "time",
        "gpu,sha_paper gpu,fxp_paper ngpu,sha_paper ngpu,fxp_paper gpu,sha_held gpu,fxp_held ngpu,sha_held ngpu,fxp_held",
        "SHA,FxP,SHA/NGPU,FxP/NGPU,SHA held,FxP held,SHA held/NGPU,FxP held/NGPU", "        2.6                     1.1         2.0")
    ratios("Figures 7b, 10b: less energy than the GPU; than NGPU", "energy",
        "gpu,ngpu gpu,sha gpu,fxp gpu,fp gpu,six gpu,staged ngpu,sha ngpu,fxp ngpu,fp",
        "NGPU,SHA,FxP,FP,SHA 6 chips,SHA staged,SHA/NGPU,FxP/NGPU,FP/NGPU",
        "                   13.3                                                     4.8         4.0         3.0")
    ratios("The same by Table 2", "paper energy",
        "gpu,ngpu gpu,sha gpu,fxp gpu,fp gpu,six gpu,staged ngpu,sha ngpu,fxp ngpu,fp",
        "NGPU,SHA,FxP,FP,SHA 6 chips,SHA staged,SHA/NGPU,FxP/NGPU,FP/NGPU",
        "                   13.3                                                     4.8         4.0         3.0")
    ratios("Figure 8: energy of SHA, NGPU's over it, in pins and crossbar", "transfer", "ngpu,sha", "transfer", "       18.5")
    ratios("  in the memory without pins", "system", "ngpu,sha", "memory", "        2.5")
    ratios("  in the memory without pins, by Table 2", "paper system", "ngpu,sha", "memory", "        2.5")
    ratios("  in the rest, with the units in the chips", "compute", "ngpu,sha", "computation", "        1.7")
    ratios("Figure 11: bandwidth over the pins", "bandwidth", "ngpu,gpu gpu,sha ngpu,sha",
        "NGPU/GPU,GPU/SHA,NGPU/SHA", "        2.2         7.3        16.0   (the text has 7.3 and 16 exchanged, against its 2.2)")
    ratios("Figure 12: power of the memory with the units, over the GPU's", "power", "sha,gpu fxp,gpu fp,gpu sha,ngpu",
        "SHA,FxP,FP,SHA/NGPU", "       0.74        1.05        1.70")
    ratios("  by Table 2", "paper power", "sha,gpu fxp,gpu fp,gpu sha,ngpu", "SHA,FxP,FP,SHA/NGPU", "       0.74        1.05        1.70")
    ratios("Row hits", "hits", "sha,ngpu", "SHA/NGPU", "        2.6")
    ratios("Beyond the paper: SHA on one stack of HBM (8 channels of 32 units), and in an HMC's 32 vaults of 8, beside 12 chips of GDDR5", "time",
        "sha,hbm sha,hmc gpu,hbm gpu,hmc", "HBM/GDDR5,HMC/GDDR5,HBM/GPU,HMC/GPU", "")
    heading("What the host's layout takes, us (one core), beside the SHA run's kernel; how often it lays an input out", "put,get,kernel,copies")
    while ((getline line < laid) > 0) {
        split(line, f, " ")
        printf "%-14s %11.1f %11.1f %11.1f %11d\n", f[1], f[2] / 1000, f[3] / 1000, time[f[1], "sha"] / 1000, f[4]
        more += f[4] - 1
    }
    printf "%-14s %47.0f%%   (more bytes by copies; the paper: 2%%)\n", "arithmetic", 100 * more / count
    table3()
}
