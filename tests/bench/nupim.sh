#!/bin/bash
# The configurations of the NUPIM paper on two of its benchmarks: nupim.sh CROFT DIR. Prints the time of the kernels, their
# IPC relative to Base (the paper's figure 12), epochs, flits of the busiest link in percent of its bandwidth, critical pairs, the
# longest time in clocks that a packet of others spends at a router, I/O energy, and hops out of priority buffers. Inputs are cut: an
# epoch takes 4 us and a change of width 100 ns, a tenth of the paper's, and hysteresis counts epochs. Results are checked
# against scalar code. SIZES="32768 12288": nodes of bfs and cells of cfd.
set -euo pipefail

croft=$1 dir=$2
here=$(cd "$(dirname "$0")" && pwd)
read -r bfs cfd <<<"${SIZES:-32768 12288}"
mkdir -p "$dir"

# value FILE NAME: a statistic of the region, which is that of the kernels; 0 if there is none.
value() {
    awk -v name="\"$2\":" '/"regions"/ { region = 1 } region && $1 == name { gsub(/[^0-9]/, "", $2); found = $2; exit }
        END { print found + 0 }' "$1"
}

# busiest FILE: the most flits of a direction of a link between modules.
busiest() {
    awk '/"regions"/ { region = 1 }
        region && /"net.router.0.port.[0-2].out.flits"|"net.router.[1-8].port.0.out.flits"/ {
            gsub(/[^0-9]/, "", $2); flits = $2 + 0; most = flits > most ? flits : most }
        END { print most + 0 }' "$1"
}

printf '%-4s %-16s %8s %8s %7s %8s %6s %8s %8s %9s\n' "" machine "time us" "IPC" epochs busiest pairs longest "I/O uJ" buffered
for row in "bfs $bfs" "cfd $cfd"; do
    read -r name size <<<"$row"
    "$croft" cc -std=c17 -D_GNU_SOURCE -O2 -I"$here/../../examples/simt" "$here/nupim/$name.c" -o "$dir/$name"
    base=0
    for machine in nupim nupim_dist nupim_crit nupim_crit_tr nupim_crit_tr_w nupim_double nupim_central; do
        stats=$dir/$name.$machine.json
        "$croft" run -m "$machine" --set net.epoch="4 us" --set net.width_time="100 ns" --detail roi --stats "$stats" \
            "$dir/$name" "$size" >"$dir/output"
        grep -q correct "$dir/output"
        busy=$(value "$stats" simt.busy)
        [ "$base" = 0 ] && base=$busy
        awk -v name="$name" -v machine="$machine" -v busy="$busy" -v base="$base" -v flits="$(busiest "$stats")" \
            -v pairs="$(value "$stats" net.pairs_added)" -v longest="$(value "$stats" net.other_longest)" \
            -v hops="$(value "$stats" net.hops)" -v buffered="$(value "$stats" net.buffered_hops)" \
            -v io="$(value "$stats" net.io.energy)" -v idle="$(value "$stats" net.idle_io.energy)" \
            'BEGIN { printf "%-4s %-16s %8.1f %+7.1f%% %7.1f %7.0f%% %6d %8d %8.0f %8.0f%%\n", name, machine, busy / 1e9,
                100 * (base / busy - 1), busy / 4e9, 100 * flits / (busy / 4e5), pairs, longest, (io + idle) / 1e9,
                100 * buffered / hops }'
    done
done
