#!/bin/bash
# The ten benchmarks of the NUPIM paper on its configurations: nupim.sh CROFT DIR FOLDER (of the compiled examples).
# Prints how blocks share pages (the paper's figure 10); for each run the time of the kernels, thread-instructions a
# clock relative to Base (figure 12), epochs, flits of the busiest link in percent of its bandwidth, bytes on links between
# modules (figure 4), critical pairs, the longest time in clocks that a packet of others spends at a router, hops out of
# priority buffers, I/O energy, and how the flits that stacks send vary (deviation over mean); and a table beside the paper's numbers. Results are checked against scalar code.
#
# Inputs are cut (examples/README.md), and epoch, change of width and hysteresis are a 16th of the paper's: 2.5 us, 62.5 ns, 4 epochs.
# SCALE=1 runs bfs and cfd with the paper's own: 40 us, 1 us, 64 epochs, in some 20 minutes of processor time. Where sharing is low,
# pages are near the multiprocessors that access them, by the trace of a run before, and blocks go to modules in equal parts;
# elsewhere memory is interleaved, and blocks are placed by their number alone. BENCHMARKS and CONFIGURATIONS choose; SET="KEY=VALUE ..." sets
# keys in all runs; JOBS is the number of runs at a time (default 2).
set -euo pipefail

scale=${SCALE:-16} hysteresis=6
for ((left = scale; left > 1; left /= 2)); do hysteresis=$((hysteresis - 1)); done
# A benchmark's program, the paper's class of it, and arguments.
benchmarks() {
    if [ "$scale" = 1 ]; then
        echo "workloads/bfs high 262144
            workloads/cfd high 98304 4"
    else
        echo "workloads/bfs high 65536
            workloads/cfd high 24576 3
            workloads/srad high 158 145 10
            workloads/lulesh high 24 2
            workloads/streamcluster high 16384 64 6
            simt/backprop high 65536
            workloads/btree high 1000000 4000 2400
            workloads/nn low 1310720
            simt/pathfinder low 100000 41 20
            simt/hotspot3d low 512 1"
    fi
}

# Pages of 4 KiB in turn over the stacks, and blocks by module, as in machine nupim_pages.
by_page=(--set "homes=R12 B4 C4 S4 H4 C2 O6")
for part in simt 'external.*.simt'; do by_page+=(--set "$part.stack_near=false" --set "$part.placement=module"); done
by_number=(--set simt.placement=contiguous --set 'external.*.simt.placement=contiguous')

# timed CROFT OPTION...: a run with the scaled epoch.
timed() {
    local pair extra=()
    for pair in ${SET:-}; do extra+=(--set "$pair"); done
    "$1" run --set "net.epoch=$((40000 / scale)) ns" --set "net.width_time=$((1000000 / scale)) ps" \
        --set "net.hysteresis=$hysteresis" --detail roi "${extra[@]}" "${@:2}"
}

# prepare CROFT DIR FOLDER "PROGRAM CLASS ARGUMENT...": finds how blocks share pages, and where sharing is low, places pages. Pages
# of the heap count, because a GPU has arguments and constants in constant memory.
prepare() {
    local croft=$1 dir=$2 row program name first mapping=("${by_number[@]}")
    read -ra row <<<"$4"
    program=$3/${row[0]} name=${row[0]##*/}
    if [ "${row[1]}" = low ]; then mapping=("${by_page[@]}"); fi
    timed "$croft" -m nupim "${mapping[@]}" --trace "memory:$dir/$name.zst" "$program" "${row[@]:2}" >"$dir/$name.output"
    # the heap: from the end of the program's segments to the host's stack
    first=$(($(readelf -lW "$program" | awk '$1 == "LOAD" { end = $3 "+" $6 } END { print end }')))
    "$croft" pages --program "$program" --first "$first" --last 0x17fff0000 "$dir/$name.zst" >"$dir/$name.kernels"
    if [ "${row[1]}" = low ]; then "$croft" pages --place "$dir/$name.pages" "$dir/$name.zst" >"$dir/$name.launches"; fi
    rm "$dir/$name.zst"
}

# Leaves settings of external multiprocessors out of `mapping`: nupim_central has none.
central_only() {
    local all=("${mapping[@]}") i
    mapping=()
    for ((i = 0; i < ${#all[@]}; i += 2)); do
        case ${all[i + 1]} in external.*) ;; *) mapping+=("${all[@]:i:2}") ;; esac
    done
}

# one CROFT DIR FOLDER "MACHINE PROGRAM CLASS ARGUMENT...": a run; its row goes to a file of its own.
one() {
    local croft=$1 dir=$2 row machine name stats nodes mapping=("${by_number[@]}")
    read -ra row <<<"$4"
    machine=${row[0]} name=${row[1]##*/}
    stats=$dir/$name.$machine.json
    if [ "${row[2]}" = low ]; then mapping=("${by_page[@]}" --set "pages=$dir/$name.pages"); fi
    if [ "$machine" = nupim_central ]; then central_only; fi
    timed "$croft" -m "$machine" "${mapping[@]}" --stats "$stats" "$3/${row[1]}" "${row[@]:3}" >"$dir/$name.$machine.output"
    grep -q correct "$dir/$name.$machine.output"
    nodes=$("$croft" show "$machine" | sed -n 's/^ *out_nodes: "\(.*\)".*/\1/p')
    # The links between modules are all ports of routers to others: three at the centre, one up at the others, one or two down.
    awk -v name="$name" -v machine="$machine" -v nodes="$nodes" '
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
            # two nodes a stack
            count = split(nodes, node, " ")
            for (i = 1; i < count; i += 2) {
                flits = value["net.node." node[i] ".flits"] + value["net.node." node[i + 1] ".flits"]
                sum += flits; squares += flits * flits
            }
            mean = 2 * sum / count
            variance = 2 * squares / count - mean * mean
            print name, machine, value["simt.busy"], value["simt.thread_instructions"], most, all, value["net.pairs_added"] + 0,
                value["net.other_longest"] + 0, value["net.buffered_hops"] / value["net.hops"],
                value["net.io.energy"] + value["net.idle_io.energy"], value["energy"],
                (variance > 0 ? sqrt(variance) / mean : 0)
        }' "$stats" >"$dir/$name.$machine.row"
    rm "$stats"*
}

case ${1:-} in
--one) one "${@:2}"; exit ;;
--prepare) prepare "${@:2}"; exit ;;
esac
croft=$1 dir=$2
mkdir -p "$dir"
rm -f "$dir"/*.row "$dir"/*.kernels
machines=
for machine in ${CONFIGURATIONS:-nupim nupim_dist nupim_crit nupim_crit_tr nupim_crit_tr_w nupim_double nupim_age nupim_oracle \
    nupim_central}; do
    if "$croft" show "$machine" >"$dir/machine" 2>&1; then machines+="$machine "; else echo "$(head -n 1 "$dir/machine"): left out"; fi
done
list=$(benchmarks | while read -r program arguments; do
    case " ${BENCHMARKS:-${program##*/}} " in *" ${program##*/} "*) echo "$program $arguments" ;; esac
done)
xargs -d '\n' -P "${JOBS:-2}" -n 1 "$0" --prepare "$croft" "$dir" "$3" <<<"$list"
while read -r row; do
    for machine in $machines; do echo "$machine $row"; done
done <<<"$list" | xargs -d '\n' -P "${JOBS:-2}" -n 1 "$0" --one "$croft" "$dir" "$3"

while read -r program said _; do
    for machine in $machines; do cat "$dir/${program##*/}.$machine.row"; done
    awk -v name="${program##*/}" -v said="$said" 'NR > 1 { $1 = $1 == "all" ? "sharing " said : "kernel " $1; print name, $0 }' \
        "$dir/${program##*/}.kernels"
done <<<"$list" | awk -v epoch="$((40000 / scale))" -f "$(dirname "$0")/nupim.awk"
