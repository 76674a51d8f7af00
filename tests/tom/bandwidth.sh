#!/bin/bash
# Parts on the chip must not limit what links or pins give: bandwidth.sh CROFT WORKDIR. Kernels that only read, only write, and copy are
# held to 90 % of a bound by hand. The bandwidth is that between two numbers of rounds, which leaves out how kernels begin and end.
# Prints "N passed, N failed".
#
# tom_base: four links of 80 GB/s in each direction, packets with 16 B beside their data, lines of 128 B. Loads fill the receive
# channels with 144 B a line, and stores the transmit channels: 320 * 128 / 144 = 284.4 GB/s. With as many loads as stores, each
# direction has 160 B for two lines: 512 GB/s. Vaults give more: 640 GB/s, of which refreshes take 260 / 7800 and, with 20 bursts of
# 6.4 ns between turns of the bus of 21.25 and 1.6 ns, these 8 %.
# gpu and axram: pins of 192 GB/s, 188.8 without refreshes. Their stores leave a write-back second level in the order of its evictions,
# and open a row for each line: four activations in 23 ns are fewer lines than pins carry. So stores are tested beside as many loads, where rows open at once;
# alone, they must not gain by a crossbar that is twice as wide and lets messages pass each other.
# nupim: multiprocessors of M2, M5 and M6 access a stack at M0. A flit of 32 B takes 400 ps, 144 B are five, 16 B one. Loads fill the link
# from M0 with five flits a line, stores that to M0: 64 GB/s; with as many of both, each direction has six for two lines: 106.7 GB/s.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

arguments "CROFT WORKDIR" $#
here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
work=$(fresh "$2")

evidence() {
    tail -n 3 "$work"/*.txt
}

# measure MACHINE KERNEL BLOCKS ROUNDS MORE OPTION...: prints the bandwidth in GB/s.
measure() {
    local rounds bytes=() busy=()
    for rounds in "$4" "$5"; do
        bytes+=("$("$croft" run -m "$1" "${@:6}" --stats "$work/stats.json" "$work/bandwidth" "$2" "$3" "$rounds" 2>"$work/errors.txt")")
        busy+=("$(jq '.total["simt.busy"]' "$work/stats.json")")
    done
    awk -v bytes=$((bytes[1] - bytes[0])) -v time=$((busy[1] - busy[0])) 'BEGIN { print bytes / time * 1e6 }'
}

# reaches MACHINE KERNEL BLOCKS ROUNDS MORE BOUND OPTION...: MORE rounds less ROUNDS take at most their bytes over 90 % of BOUND, in GB/s.
reaches() {
    measure "$1" "$2" "$3" "$4" "$5" "${@:7}" >"$work/reached.txt"
    # shellcheck disable=SC2016 # awk's field
    check "$1, $2: $(cat "$work/reached.txt") of $6 GB/s" awk -v bound="$6" '{ exit !($1 >= 0.9 * bound && $1 <= 1.01 * bound) }' "$work/reached.txt"
}

# full_links: while loads fill the links, those of the stacks' own multiprocessors, which use no link, take at most three times as long as
# idle ones: 46 clocks of 714 ps in the multiprocessor, two crossings of 1.6 ns, and 35.2 ns in the vault (tests/tom/tom.sh), 71 ns.
full_links() {
    "$croft" candidates -m tom -o "$work/offloads" "$work/bandwidth" >/dev/null
    "$croft" run -m tom --stats "$work/stats.json" "$work/offloads" reads 408 32 >/dev/null 2>"$work/errors.txt"
    jq '.total | to_entries | def sum(name): map(select(.key | test("^stack.*simt.*l1." + name + "$")).value) | add;
        sum("miss_latency") / sum("misses") / 1e6' "$work/stats.json" >"$work/reached.txt"
    # shellcheck disable=SC2016 # awk's field
    check "tom, full links: $(cat "$work/reached.txt") ns a load in stacks" awk '{ exit !($1 >= 71 && $1 <= 213) }' "$work/reached.txt"
}

"$croft" cc -O2 -g -Wall -Wextra "$here/bandwidth.c" -o "$work/bandwidth"
reaches tom_base reads 408 4 12 284.4
reaches tom_base writes 408 4 12 284.4
reaches tom_base copies 408 4 12 512
reaches gpu reads 90 16 48 188.8
reaches axram reads 90 16 48 188.8
full_links

rows=(--set "dram.tRRDS=1 ns" --set "dram.tRRDL=1 ns" --set "dram.tFAW=4 ns" --set "dram.t32AW=0 ns" --set "dram.tRC=8 ns" --set "dram.tRAS=5 ns" --set "dram.tRP=3 ns"
    --set "dram.tRCDRD=2 ns" --set "dram.tRCDWR=2 ns" --set "dram.tWR=2 ns")
reaches gpu copies 90 16 48 188.8 "${rows[@]}"
reaches axram copies 90 16 48 188.8 "${rows[@]}"
for machine in gpu axram; do
    shipped=$(measure $machine writes 90 16 48)
    wide=$(measure $machine writes 90 16 48 --set "simt.crossbar.width=64 B" --set simt.crossbar.queues=virtual)
    echo "$shipped GB/s, with a wide crossbar $wide GB/s" >"$work/reached.txt"
    check "$machine, writes: $(cat "$work/reached.txt")" awk -v a="$shipped" -v b="$wide" 'BEGIN { exit !(a > 100 && b < 1.05 * a) }'
done

for ((block = 0; block < 72; block++)); do echo "$block $((block % 12 < 4 ? 36 + block % 12 : 44 + block % 12))"; done >"$work/table"
far=(--set "homes=S4 R12 B4 C4 H4 C2 O6" --set "simt.stack_near|external.*.simt.stack_near=false" --set "simt.placement|external.*.simt.placement=table"
    --set "simt.placement_table|external.*.simt.placement_table=$work/table")
reaches nupim reads 72 4 12 64 "${far[@]}"
reaches nupim writes 72 4 12 64 "${far[@]}"
reaches nupim copies 72 4 12 106.7 "${far[@]}"
conclude
