#!/bin/bash
# The ten benchmarks of the NUPIM paper on its configurations: nupim.sh CROFT SHARING DIR FOLDER (of the compiled examples).
# Prints how blocks share pages (sharing.c; the paper's figure 10); for each run the time of the kernels, thread-instructions a
# clock relative to Base (figure 12), epochs, flits of the busiest link in percent of its bandwidth, bytes on links between
# modules (figure 4), critical pairs, the longest time in clocks that a packet of others spends at a router, hops out of
# priority buffers, and I/O energy; and a table beside the paper's numbers. Results are checked against scalar code. Inputs
# are cut (examples/README.md), so an epoch takes 4 us and a change of width 100 ns, a tenth of the paper's; hysteresis counts epochs.
# Blocks are placed by their number alone. UNSCALED=1 runs bfs and cfd with the paper's 40 us and 1 us, in some 20 minutes of
# processor time. BENCHMARKS and CONFIGURATIONS choose; JOBS is the number of runs at a time (default 2).
set -euo pipefail

machines=${CONFIGURATIONS:-nupim nupim_dist nupim_crit nupim_crit_tr nupim_crit_tr_w nupim_double nupim_central}
epoch=4 width_time=100
# A benchmark's program and arguments.
benchmarks() {
    if [ -n "${UNSCALED:-}" ]; then
        echo "workloads/bfs 262144
            workloads/cfd 98304 3"
    else
        echo "workloads/bfs 65536
            workloads/cfd 24576 3
            workloads/srad 158 145 10
            workloads/lulesh 24 2
            workloads/streamcluster 16384 64 6
            simt/backprop 65536
            workloads/btree 1000000 4000 2400
            workloads/nn 1310720
            simt/pathfinder 100000 41 20
            simt/hotspot3d 512 1"
    fi
}
if [ -n "${UNSCALED:-}" ]; then epoch=40 width_time=1000; fi

# one CROFT SHARING DIR FOLDER "MACHINE PROGRAM ARGUMENT...": a run; its row goes to a file of its own.
one() {
    local croft=$1 sharing=$2 dir=$3 folder=$4 row machine program name stats options=()
    read -ra row <<<"$5"
    machine=${row[0]} program=$folder/${row[1]} name=${row[1]##*/}
    stats=$dir/$name.$machine.json
    [ "$machine" = nupim ] && options=(--trace "memory:$dir/$name.zst")
    "$croft" run -m "$machine" --set net.epoch="$epoch us" --set net.width_time="$width_time ns" --set simt.placement=contiguous \
        --detail roi "${options[@]}" --stats "$stats" "$program" "${row[@]:2}" >"$dir/$name.$machine.output"
    grep -q correct "$dir/$name.$machine.output"
    if [ "$machine" = nupim ]; then
        # the heap: from the end of the program's segments to the host's stack
        "$sharing" "$dir/$name.zst" $(($(readelf -lW "$program" | awk '$1 == "LOAD" { end = $3 "+" $6 } END { print end }'))) \
            0x17fff0000 >"$dir/$name.sharing"
        rm "$dir/$name.zst"
    fi
    # The links between modules are all ports of routers to others: three at the centre, one up at the others, one or two down.
    awk -v name="$name" -v machine="$machine" '
        /"regions"/ { region = 1 }
        !region { next }
        { key = $1; gsub(/[":]/, "", key); gsub(/[^0-9]/, "", $2); if (key in seen) next; seen[key]; value[key] = $2 + 0 }
        END {
            split("0.0 0.1 0.2 1.0 1.1 2.0 2.1 2.2 3.0 3.1 3.2 4.0 5.0 6.0 7.0 8.0", links, " ")
            for (i in links) {
                split(links[i], port, ".")
                flits = value["net.router." port[1] ".port." port[2] ".out.flits"]
                most = flits > most ? flits : most
                all += flits
            }
            print name, machine, value["simt.busy"], value["simt.thread_instructions"], most, all, value["net.pairs_added"] + 0,
                value["net.other_longest"] + 0, value["net.buffered_hops"] / value["net.hops"],
                value["net.io.energy"] + value["net.idle_io.energy"], value["energy"]
        }' "$stats" >"$dir/$name.$machine.row"
    rm "$stats"*
}

if [ "${1:-}" = --one ]; then
    one "${@:2}"
    exit 0
fi
dir=$3
mkdir -p "$dir"
rm -f "$dir"/*.row "$dir"/*.sharing
list=$(benchmarks | while read -r program arguments; do
    case " ${BENCHMARKS:-${program##*/}} " in *" ${program##*/} "*) echo "$program $arguments" ;; esac
done)
while read -r row; do
    for machine in $machines; do echo "$machine $row"; done
done <<<"$list" | xargs -d '\n' -P "${JOBS:-2}" -n 1 "$0" --one "$1" "$2" "$dir" "$4"

while read -r program _; do
    for machine in $machines; do cat "$dir/${program##*/}.$machine.row"; done
    if [ -e "$dir/${program##*/}.sharing" ]; then echo "${program##*/} sharing $(cat "$dir/${program##*/}.sharing")"; fi
done <<<"$list" | awk -v epoch="$epoch" -f "$(dirname "$0")/nupim.awk"
