#!/bin/bash
# Machines nupim and nupim_central: nupim.sh CROFT WORKDIR FOLDER (of the compiled examples/simt) BFS (of examples/workloads). All
# kernels behave as on qemu-riscv64 and obey the DRAM rules; a load's latency and its flits on each link are those that the tree of switches asks
# for. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
folder=$(realpath "$3")
bfs=$(realpath "$4")
work=$(fresh "$2")
cd "$work" || exit 1

evidence() {
    tail -n 3 errors output
}

# kernel MACHINE PROGRAM
kernel() {
    local name=${2##*/}
    oracle expected "$2"
    "$croft" run -m "$1" --check dram "$2" >output 2>errors
    check "$1, $name: runs" test $? = 0
    check "$1, $name: qemu's output" cmp -s expected output
}

for program in "$folder"/*; do
    case $program in *.*) ;; *) kernel nupim "$program" ;; esac
done
kernel nupim "$bfs"
kernel nupim_central "$bfs"
kernel nupim_central "$folder/srad"

for machine in nupim_dist nupim_crit nupim_crit_tr nupim_double; do kernel "$machine" "$bfs"; done

# total NAME: a statistic of the whole run.
total() {
    awk -v name="\"$1\":" '/"total"/ { total = 1 } total && $1 == name { gsub(/[^0-9]/, "", $2); print $2; exit }' one.json
}

# Everything on, with short epochs: trackers leave, priority buffers are used, links get narrow, nothing is lost, and it repeats.
oracle expected "$bfs" 8192
for statistics in one.json two.json; do
    "$croft" run -m nupim_crit_tr_w --set net.epoch="2 us" --set net.width_time="50 ns" --stats "$statistics" "$bfs" 8192 >output 2>errors
    check "everything on: qemu's output" cmp -s expected output
done
check "it repeats" cmp <(sed '/^  "host"/,$d' one.json) <(sed '/^  "host"/,$d' two.json)
check "trackers" test "$(total net.trackers)" -gt 100
check "pairs" test "$(total net.pairs_added)" -gt 0
check "priority buffers" test "$(total net.buffered_hops)" -gt 10000
check "widths" test "$(total net.router.0.port.0.out.width_changes)" -gt 3
check "packets" test "$(total net.packets_sent)" = "$(total net.packets_delivered)"
check "flits" test "$(total net.flits_entered)" = "$(total net.flits_left)"

"$croft" cc -O2 "$here/nupim_probe.c" -o probe 2>errors

# probe MACHINE MULTIPROCESSOR STACK LINES: prints the clocks of a load; statistics are in one.json.
probe() {
    echo "0 $2" >table
    "$croft" run -m "$1" --set simt.placement=table --set simt.placement_table=table --stats one.json probe "$3" "$4" 2>errors
}

# Each switch on the way takes VA, SA, ST and a wire, of one clock of 0.4 ns each, in both directions: 3.2 ns are 4.48 clocks of
# a multiprocessor. Requests wait for a clock of the second level, and responses for one of the multiprocessor, less than two in all.
near=$(probe nupim 32 8 256)
# switches MACHINE MULTIPROCESSOR STACK NUMBER: a load passes that many switches more than one of the module's own stack.
switches() {
    clocks=$(probe "$1" "$2" "$3" 256)
    echo "near $near, $1 $2 to $3: $clocks" >output
    check "$1: multiprocessor $2 to stack $3" awk -v near="$near" -v clocks="$clocks" -v more="$4" \
        'BEGIN { off = clocks - near - 4.48 * more; exit !(near > 100 && off > -2 && off < 2) }'
}
switches nupim 0 0 0  # in the centre
switches nupim 31 7 0
switches nupim 0 8 1  # S0, S1
switches nupim 0 12 2 # S0, S2, S5
switches nupim 32 9 2 # S1, S0, S2
switches nupim 36 13 1 # S2, S6
switches nupim 44 15 4 # S4, S1, S0, S3, S8
switches nupim_central 63 15 2

# flits ROUTER PORT: flits that the port has sent.
flits() {
    total "net.router.$1.port.$2.out.flits"
}

# From M4 to the stack of M8: a request of 16 B is a flit, a response of 16 + 128 B five flits. The host, at the centre, has
# flits of its own; 256 lines more make the same difference on all links of the way.
links="4.0 1.0 0.2 3.2 8.0 3.0 0.0 1.1"
probe nupim 44 15 256 >output
few=$(for link in $links; do flits "${link%.*}" "${link#*.}"; done)
probe nupim 44 15 512 >output
many=$(for link in $links; do flits "${link%.*}" "${link#*.}"; done)
paste <(echo "$few") <(echo "$many") >output
all_carry() {
    awk '{ more = $2 - $1; least = NR <= 4 ? 256 : 1280; bad += more < least || more > least + 40 }
        END { exit !(NR == 8 && bad == 0) }' output
}
check "flits of each link" all_carry

# refuses NAME REGEX SETTING...
refuses() {
    "$croft" show nupim "${@:3}" >output 2>errors
    check "$1: status" test $? = 2
    check "$1: message" grep -qE "^croft show: $2" errors
}
refuses "unequal multiprocessors" '.*simt.stack_near: 65 multiprocessors cannot be shared equally by 16 memories' --set simt.count=33 \
    --set "net.in_nodes=0 0$(printf ' 0%.0s' {1..64})"
refuses "another map" '.*simt.stack_near: homes: memories must take turns every 256 bytes' --set "homes=R12 B4 C3 H4 S4 C3 O6"
refuses "slices and vaults" '.*central.l2.interleave: partition is not allowed with 3 slices .* 16 channels' --set central.l2.slices=3 \
    --set "net.out_nodes=1$(printf ' 1%.0s' {1..39})"
conclude
