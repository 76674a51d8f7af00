#!/bin/bash
# Whole programs with the offload engine: engine.sh CROFT WORKDIR KERNEL... (examples/nucd, compiled). In
# every mode, with 1, 4 and 16 accelerators, their output equals that under qemu-riscv64; faults in regions
# end programs in the same way; and an offload takes as long as the NUCD paper states (section VI-B). Prints
# "N passed, N failed"; the status is 1 if any failed.
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
croft=$1 work=$2
shift 2
mkdir -p "$work"

evidence() {
    head -n 5 "$work/err"
}

# run NAME=VALUE... -- PROGRAM [ARGUMENTS]: sets $status and writes out, err and stats.json to the work
# folder.
run() {
    local sets=()
    while [ "$1" != -- ]; do
        sets+=(--set "$1")
        shift
    done
    shift
    status=0
    timeout 600 "$croft" run -m nucd "${sets[@]}" --stats "$work/stats.json" "$@" >"$work/out" 2>"$work/err" || status=$?
}

fact() {
    jq -r ".run[\"$1\"] // .total[\"$1\"] // 0" "$work/stats.json"
}

same_end() {
    [ "$status" -eq "$wanted" ] && cmp -s "$work/out" "$work/wanted"
}

holds() {
    awk "BEGIN { exit !($1) }"
}

for program in cost fault queue returns; do
    "$croft" cc -O2 -g "$here/programs/$program.c" -o "$work/$program" || exit 1
done

for kernel in "$@"; do
    oracle "$work/wanted" "$kernel"
    for mode in none nucd ideal; do
        for count in 1 4 16; do
            run "nucd.mode=$mode" "accel.count=$count" -- "$kernel"
            name="${kernel##*/} $mode $count"
            check "$name" same_end
            [ "$mode" = none ] || check "$name" holds "$(fact nucd.offloads) > 0"
        done
    done
done

# The kernel shows accelerators its table of ranges, and the engine the program's data: no access is to a stale line.
for kernel in "$@"; do
    oracle "$work/wanted" "$kernel"
    status=0
    timeout 600 "$croft" run -m nucd --env kernel --check coherence --stats "$work/stats.json" "$kernel" \
        >"$work/out" 2>"$work/err" || status=$?
    check "${kernel##*/} beneath the kernel" same_end
    check "${kernel##*/} beneath the kernel: $(head -n 1 "$work/err")" test ! -s "$work/err"
    check "${kernel##*/} beneath the kernel" holds "$(fact nucd.offloads) > 0"
done

# Out-of-order accelerators can retire further instructions in the same cycle as the region's first.
for kernel in "$@"; do
    oracle "$work/wanted" "$kernel"
    for mode in nucd ideal; do
        run accel.core=ooo "nucd.mode=$mode" accel.count=4 -- "$kernel"
        check "${kernel##*/} $mode, out of order" same_end
        check "${kernel##*/} $mode, out of order" holds "$(fact nucd.offloads) > 0"
    done
done

for granules in 1 2 4; do
    run accel.count=1 -- "$work/cost" "$granules"
    least=$(fact nucd.offload_cycles.min) mean=$(fact nucd.offload_cycles.mean)
    echo "$granules granules each way: at least $least, $mean on average, $(fact nucd.offload_cycles.max) cold"
    check "cost $granules" holds "$least >= 150 && $mean <= 200"
done

# Sixteen tasks whose results are used take at most 1.2 times what they take when their results are read at the end.
for way in memory sum array registers early; do
    oracle "$work/wanted" "$work/returns" "$way"
    run -- "$work/returns" "$way"
    check "returns $way" same_end
    cycles=$(tail -n 1 "$work/err" | cut -d ' ' -f 2)
    [ "$way" != memory ] || least=$cycles
    echo "results by $way: $cycles cycles"
    check "returns $way, $cycles cycles" holds "$cycles <= 1.2 * $least"
done

for bad in l s i j b; do
    oracle "$work/wanted" "$work/fault" "$bad"
    for count in 1 16; do
        run "accel.count=$count" -- "$work/fault" "$bad"
        check "fault $bad $count" same_end
        check "fault $bad $count" grep -q "on accelerator .*, in the task of the nucd at 0x" "$work/err"
        [ "$bad" = j ] || check "fault $bad $count" grep -q "at 0x.*, work_region" "$work/err"
    done
done
oracle "$work/wanted" "$work/fault"
run -- "$work/fault"
check "fault none" same_end

run "nucd.timeout=20 us" -- "$work/fault" e
check timeout [ "$status" -eq 124 ]
check timeout grep -q "task [0-9]* of the nucd at 0x.*, main.*on accelerator [0-9]* .*nucd.timeout); its pc is 0x.*, work_region" "$work/err"
# By default, an endless region is found within 50 ms of simulated time, hence in seconds.
run -- "$work/fault" e
check "timeout, default" [ "$status" -eq 124 ]
check "timeout, default" grep -q "stopped after 50[.].* ms of simulated time (nucd.timeout)" "$work/err"

# Waiting behind other tasks on one accelerator is no reason to end the run.
for mode in nucd driver; do
    run "nucd.mode=$mode" accel.count=1 "nucd.timeout=100 us" -- --env kernel "$work/queue"
    check "queue, $mode" grep -qx 320000 "$work/out"
    run "nucd.mode=$mode" accel.count=1 "nucd.timeout=15 us" -- --env kernel "$work/queue"
    check "queue, $mode, too long" [ "$status" -eq 124 ]
done

# A run may end while tasks are in any state.
for kernel in "$@"; do
    run "nucd.timeout=1 us" -- "$kernel"
    check "${kernel##*/} in 1 us" [ "$status" -eq 124 ]
done

# The README's first example: equal output everywhere, and a speed-up on this machine.
"$croft" cc -O2 "$here/../../examples/cells.c" -o "$work/cells" || exit 1
oracle "$work/wanted" "$work/cells"
run -- "$work/cells"
check "cells" cmp -s <(head -n 1 "$work/out") <(head -n 1 "$work/wanted")
check "cells, gain" holds "$(awk 'NR == 2 { print $6 }' "$work/out") > 1.3"

oracle "$work/wanted" "$work/cost" 1
run nucd.mode=none -- "$work/cost" 1
check none same_end
check none holds "$(fact nucd.offloads) == 0"
check "no warning if nothing is to be offloaded" [ ! -s "$work/err" ]

# One warning if no core of the machine can offload, though there are regions; programs without regions get none.
inlined="warning: the host ran all regions, because no core of machine"
run accel.count=0 -- "$work/cost" 1
check "no accelerators" [ "$(grep -c "$inlined 'nucd' can offload; set accel.count to 1 or more" "$work/err")" -eq 1 ]
run host.core=inorder accel.count=0 -- --env kernel "$work/cost" 1
check "no accelerators, kernel" [ "$(grep -c "$inlined 'nucd'" "$work/err")" -eq 1 ]
"$croft" run -m ddr3 "$work/cost" 1 >"$work/out" 2>"$work/err"
check "no nucd" [ "$(grep -c "$inlined 'ddr3' can offload; take a machine" "$work/err")" -eq 1 ]
"$croft" cc --bare -O2 "$here/programs/trace_tasks.c" -o "$work/bare" || exit 1
"$croft" run -m nucd "$work/bare" >"$work/out" 2>"$work/err"
check "no firmware" [ "$(grep -c "$inlined 'nucd' can offload; --firmware gives" "$work/err")" -eq 1 ]
printf 'int main(void) { __asm__ volatile("slt x0, a0, a1"); }\n' >"$work/none.c"
"$croft" cc -O2 "$work/none.c" -o "$work/none"
"$croft" run -m ddr3 "$work/none" >"$work/out" 2>"$work/err"
check "no regions" [ ! -s "$work/err" ]

# Values common to all tasks are computed before the loop: a launch of ebox takes 5 instructions, and the
# reorder buffer of 128 entries holds 25 launches.
for kernel in "$@"; do
    if [[ ${kernel##*/} == *ebox* ]]; then
        run -- "$kernel" 16
        check "ebox, launches within few instructions" holds "$(fact nucd.window) > 20"
    fi
done

conclude
