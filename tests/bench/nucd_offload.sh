#!/bin/bash
# Cycles of an offload on machine nucd, by part: nucd_offload.sh CROFT PROGRAM OUT (PROGRAM: nucd_offload.c,
# compiled). Measures each offload separately, as the difference of two statistics dumps. Checks two sums per
# offload: wait + generator + transfer + start = nucd.offload_cycles; these plus cleaning, dependent (accesses
# whose addresses wait for tasks), held (stores that delay it), blocked (older tasks) and queued =
# nucd.elapsed_cycles. Both run from decode to the region's first instruction; the engine derives them from
# these two times. Prints a table and writes OUT/offload.csv.
# The status is 1 if a run fails, a sum is wrong, or the caches at the start were not in the named state.
set -euo pipefail

croft=$1 program=$2 out=$3 status=0
mkdir -p "$out"
csv=$out/offload.csv
echo "state,granules,number,offloads,wait,generator,transfer,start,offload,cleaning,dependent,held,blocked,queued,elapsed,write_backs,link_clocks" >"$csv"

# Lines of the table: the differences of dumps 0 and 1, 2 and 3, and so on.
# shellcheck disable=SC2016 # names of jq
pairs='.dumps as $d | range(0; $d | length; 2) as $i | ["offloads", "wait_cycles", "generator_cycles", "transfer_cycles",
    "start_cycles", "offload_cycles", "cleaning_cycles", "dependent_cycles", "held_cycles", "blocked_cycles", "queued_cycles",
    "elapsed_cycles"]
    | [$state, $granules, $i / 2] + map(("nucd." + .) as $name | $d[$i + 1][$name] - $d[$i][$name])
    + [$d[$i + 1]["l2.write_backs"] - $d[$i]["l2.write_backs"], $link] | @csv'

# measure STATE GRANULES CLOCKS: with nucd.link_clocks=CLOCKS.
measure() {
    local stats=$out/$1.$2.$3.json
    if ! "$croft" run -m nucd --set accel.count=1 --set nucd.link_clocks="$3" --stats "$stats" "$program" "$1" "$2"; then
        echo "$program $1 $2 failed" >&2
        exit 1
    fi
    jq -r --arg state "$1" --argjson granules "$2" --argjson link "$3" "$pairs" "$stats" | tr -d '"' >>"$csv"
}

# Link clocks: 16 = 12 of the second-level cache + 4 of the crossbar; 40 (the machine's) = 16 + 24 fitted to
# the paper's 150 cycles.
for state in cold clean dirty; do
    for granules in 1 2 4; do
        measure "$state" "$granules" 40
    done
done
for granules in 1 2 4; do
    measure clean "$granules" 16
done

awk -F, '
    function mean(column) { return sum[group, column] / count[group] }
    NR == 1 { next }
    {
        group = $1 " " $2 " " $17
        if (!(group in count)) {
            order[++groups] = group
            least[group] = $9
        }
        count[group]++
        for (i = 4; i < NF; i++) sum[group, i] += $i
        if ($9 < least[group]) least[group] = $9
        if ($9 > most[group]) most[group] = $9
        if ($5 + $6 + $7 + $8 != $9 || $9 + $10 + $11 + $12 + $13 + $14 != $15 || $4 != 1) wrong[group]++
        # A dirty start has all lines of both ways in the second level, any other one none.
        if ($16 != ($1 == "dirty" ? 2 * $2 : 0)) strange[group]++
    }
    END {
        print "cycles of the host (2 GHz), means; granules of 64 bytes, so many in and so many out"
        printf "%-5s %8s %4s %6s %6s %6s %6s %8s %11s | %8s %6s %8s | %s\n", "state", "granules", "link", "wait", "gener.", "transf", "start",
            "offload", "min-max", "cleaning", "other", "elapsed", "offloads, sums"
        for (g = 1; g <= groups; g++) {
            group = order[g]
            split(group, name, " ")
            printf "%-5s %8d %4d %6.1f %6.1f %6.1f %6.1f %8.1f %11s | %8.1f %6.1f %8.1f | %d, %s\n", name[1], name[2], name[3], mean(5), mean(6),
                mean(7), mean(8), mean(9), least[group] "-" most[group], mean(10), mean(11) + mean(12) + mean(13) + mean(14), mean(15),
                count[group], wrong[group] ? wrong[group] " WRONG" : "all add up"
            bad += wrong[group] + strange[group]
            if (strange[group])
                printf "  %d of these did not start so: the second level wrote back another number of lines\n", strange[group]
        }
        exit bad > 0
    }' "$csv" || status=1
echo "link: nucd.link_clocks; 24 of the machine's 40 are fitted to the NUCD paper's 150 cycles an offload (section VI-B)"
echo "offload = wait + generator + transfer + start; elapsed = offload + cleaning + other (dependent, held by stores, blocked, queued)"
echo "every offload by itself: $csv"
exit "$status"
