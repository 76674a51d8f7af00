#!/bin/bash
# Regions that call the C library, on machine nucd against qemu-riscv64: library.sh CROFT OUT. PROGRAMS is the number of
# random programs (tests/nucd/programs/library_random.c) from SEED on; they are divided among the configurations. ALL=1: 10,000.
# Prints "N passed, N failed"; a random program is a test.
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

arguments "CROFT OUT" $#
croft=$(realpath "$1")
out=$(fresh "$2")
here=$(realpath "$(dirname "$0")")
programs=${PROGRAMS:-${ALL:+10000}} seed=${SEED:-${HAZARD_SEED:-1}000}
programs=${programs:-432}
jobs=$(nproc)
modes=("" "--set nucd.retire=checkpoint" "--set nucd.mode=ideal" "--env kernel" "--set host.core=inorder"
    "--set accel.count=1" "--set nucd.ranges=oracle --set accel.count=3"
    "--env kernel --set accel.count=2 --set nucd.queue_lines=2"
    "--env kernel --set nucd.mode=ideal --set nucd.retire=checkpoint --set accel.count=1"
    "--set nucd.ranges=page --set nucd.frontend_stall=true --set accel.count=4"
    "--set accel.core=ooo --set accel.count=4" "--env kernel --set host.core=inorder"
    "--env kernel --set nucd.tasks=2 --set host.rob=16")
shared=("" "--set accel.count=1" "--set accel.count=2 --set nucd.retire=checkpoint" "--set nucd.mode=ideal --set accel.count=3"
    "--set host.core=inorder --set accel.count=2" "--set nucd.arbitration=partition --set accel.count=4"
    "--set nucd.arbitration=first_come --set accel.count=1 --set nucd.queue_lines=2")
for name in library library_small library_driver library_random; do
    "$croft" cc -std=gnu17 -O2 -g -Wall -Wextra "$here/programs/$name.c" -lm -o "$out/$name" || exit 1
done

# as_qemu OPTIONS PROGRAM ARGUMENTS...: output and status equal qemu's.
as_qemu() {
    local mode=$1 status=0 program=$2
    shift 2
    cd "$out" || exit 1
    oracle "$out/wanted" "./$program" "$@"
    # shellcheck disable=SC2086 # several words
    timeout 300 "$croft" run -m nucd $mode --stats "$out/stats.json" "./$program" "$@" >"$out/output" 2>"$out/errors" || status=$?
    if [ "$status" -eq "$wanted" ] && cmp -s "$out/wanted" "$out/output" && ! [ -s "$out/errors" ]; then
        pass
    else
        fail "$program $* with '$mode': status $status, of qemu $wanted" "$(cat "$out/errors")"
    fi
}

for mode in "${modes[@]}"; do
    for what in print after mixture; do as_qemu "$mode" library "$what"; done
    as_qemu "$mode" library_small
done
as_qemu "" library mixture
check "order points" grep -q '"nucd.ordered": [1-9]' "$out/stats.json"
for count in 1 2 4; do
    for mode in "${shared[@]}"; do as_qemu "--env kernel --set host.count=$count $mode" library hosts "$count"; done
done

# One accelerator, whose task waits at an order point while its host runs an older region itself.
for count in 2 3 4; do
    as_qemu "--env kernel --set host.count=$count --set accel.count=1" library_random "$count" 54640 24
done

# The driver has no order: it names the function and its call.
status=0
timeout 300 "$croft" run -m nucd --env kernel --set nucd.mode=driver "$out/library_driver" >"$out/output" 2>"$out/errors" || status=$?
evidence() { cat "$out/errors"; }
check "the driver refuses" [ "$status" -eq 159 ]
check "the driver names the function" grep -qE \
    'library call in a region of CROFT_FOR_TASKS: snprintf, called at 0x[0-9a-f]+, .*library_driver.c:.*move the call out of the region' \
    "$out/errors"
check "the driver shows the region" grep -q '#[1-9] 0x[0-9a-f]* write_region' "$out/errors"

# random NUMBER THREADS FIRST COUNT QUIET OPTIONS: runs random programs; writes the counts of equal and other ones.
random() {
    local folder=$out/$1 status=0
    mkdir -p "$folder/qemu" && cd "$folder" || exit 1
    # shellcheck disable=SC2086 # several words or none
    (cd qemu && qemu-riscv64 "$out/library_random" "$2" "$3" "$4" $5 >../wanted)
    # shellcheck disable=SC2086 # several words
    timeout 3000 "$croft" run -m nucd $6 "$out/library_random" "$2" "$3" "$4" $5 >output 2>errors || status=$?
    grep '^program' wanted >wanted.programs
    grep -a '^program' output >output.programs
    same=$(comm -12 <(sort wanted.programs) <(sort output.programs) | wc -l)
    other=$(($4 - same))
    if [ "$other" -eq 0 ] && { [ "$status" -ne 0 ] || [ -s errors ] || ! cmp -s wanted output; }; then other=1; fi
    echo "$same $other" >counts
    [ "$other" -eq 0 ] || echo "$croft run -m nucd $6 $out/library_random $2 $3 $4 $5: status $status; $(head -n 5 errors)" >failure
}

list=()
for mode in "${modes[@]}"; do list+=("1||$mode"); done
for mode in "${shared[@]}"; do
    for count in 2 3 4; do list+=("$count||--env kernel --set host.count=$count $mode"); done
done
list+=("1|quiet|--env kernel --set nucd.mode=driver --set nucd.os_clocks=100")
list+=("2|quiet|--env kernel --set host.count=2 --set nucd.mode=driver --set nucd.os_clocks=100 --set accel.count=3")
dozens=$(((programs + ${#list[@]} * 12 - 1) / (${#list[@]} * 12)))
each=$((dozens * 12)) # a multiple of 2, 3 and 4 hosts
running=0
for ((i = 0; i < ${#list[@]}; i++)); do
    IFS='|' read -r threads quiet options <<<"${list[i]}"
    if [ "$running" -ge "$jobs" ]; then
        wait -n
        running=$((running - 1))
    fi
    (random "$i" "$threads" $((seed + i * each)) "$each" "$quiet" "$options") &
    running=$((running + 1))
done
wait
for ((i = 0; i < ${#list[@]}; i++)); do
    read -r same other <"$out/$i/counts"
    add "$same" "$other"
    [ ! -e "$out/$i/failure" ] || cat "$out/$i/failure"
done
conclude
