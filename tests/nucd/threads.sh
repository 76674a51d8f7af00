#!/bin/bash
# Regions of threads on multiprocessors: threads.sh CROFT. The program's output equals qemu-riscv64's, whoever runs
# the regions; tasks, warnings, faults, and the cycles of a task on an idle machine are as worked out by hand. Prints
# "N passed, N failed"; the status is 1 if any failed.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
scratch
cd "$work"
"$croft" cc -std=c17 -O2 -g -Wall -Wextra "$here/programs/threads.c" -lm -o threads
"$croft" cc -std=c17 -O0 -g "$here/programs/threads.c" -lm -o threads0
oracle wanted_output threads

evidence() {
    tail -n 8 output errors
}

# run STATUS OPTIONS... -- [WHAT]
run() {
    local wanted=$1 status=0 options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    timeout 600 "$croft" run -m "$here/threads.yaml" --stats stats.json "${options[@]}" ./threads "$@" \
        >output 2>errors || status=$?
    [ "$status" -eq "$wanted" ]
}

# value NAME: the sum of the statistics whose names match, of the whole run.
value() {
    sed -n '/^  "total"/,/^  "regions"/p' stats.json | { grep -oE "\"$1\": [0-9]+" || true; } |
        awk '{ sum += $2 } END { print sum + 0 }'
}

counts() {
    local found
    found=$(value "$1")
    echo "$1: $found" >>errors
    [ "$found" -eq "$2" ]
}

says() {
    grep -qE "$1" errors
}

as_qemu() {
    cmp -s output wanted_output
}

# By hand: `all` has 3 tasks for each of 120 threads, and runs twice; `parted` one for each, and i mod 3 for each
# thread i that i mod 4 is not 3 for; `stacks` one for the even threads; `floats` one for each; `one` one.
tasks=$((2 * 3 * 120 + 120 + 10 * (12 - 3) + 60 + 120 + 1))
host=120 # of `both`

# several LABEL OPTIONS...: all regions on accelerators.
several() {
    local label=$1
    shift
    check "$label: runs" run 0 "$@" --
    check "$label: results" as_qemu
    check "$label: tasks" counts 'accel\.[0-9]+\.tasks' $((tasks + host))
    check "$label: offloads of threads" counts 'simt\.[0-9]+\.nucd\.offloads' $tasks
    check "$label: offloads of hosts" counts 'nucd(\.[0-9])?\.offloads' $host
    check "$label: malformed" counts 'simt\.[0-9]+\.nucd\.malformed\.range_outside' 60
    check "$label: faults" counts 'simt\.[0-9]+\.nucd\.faults' 0
}

several "two multiprocessors"
cp stats.json first.json
check "one warning" test "$(grep -c 'warning: stacks' errors)" -eq 1
check "the warning" says 'is ignored, and the thread runs its region: a range begins outside of memory'
check "again: runs" run 0 --
check "again: the same statistics" diff <(without_host first.json) <(without_host stats.json)
several "round robin" --set simt.policy=round_robin
several "narrow warps" --set simt.width=4 --set simt.warps=256
several "no second level" --set simt.l2=none
several "in-order host" --set host.core=inorder
several "ideal" --set nucd.mode=ideal
several "few credits" --set accel.count=1 --set nucd.queue_lines=2 --set nucd.transfer_lines=2 --set nucd.tasks=3
check "a warp waits for free tasks" test "$(value 'simt\.[0-9]+\.nucd\.table_full')" -gt 0
several "two hosts" --set host.count=2 --set nucd.hosts=2
several "seven multiprocessors" --set simt.count=7
several "checked" --check nucd --check dram --check coherence
cp threads0 threads.swap && mv threads threads2 && mv threads.swap threads
several "without optimisation"
mv threads2 threads

# Cache operations, one for each line of 128 bytes, of `all` on three multiprocessors, each with warps of 32 and 8
# threads. For each thread's task, its input row is cleaned (2 lines), and its output row is invalidated before and after
# (2 each): 2 + 4, 4, and 2 lines. The table of 32 lines is cleaned once for each of the 6 warps.
check "cleaning: runs" run 0 --set simt.count=3 -- all
check "cleaning: operations" counts 'simt\.[0-9]+\.l1\.maintenance' $((120 * (2 + 4 + 4 + 2) + 6 * 32))
# An operation reaches any number of lines if they have one slice or none below: one for each range, each time.
for level in "--set simt.l2.slices=1" "--set simt.l2=none"; do
    # shellcheck disable=SC2086 # several words
    check "cleaning, $level: runs" run 0 --set simt.count=3 $level -- all
    check "cleaning, $level: operations" counts 'simt\.[0-9]+\.l1\.maintenance' $((120 * 6 + 6))
done

# inline LABEL OPTIONS...: no region on an accelerator.
inline() {
    local label=$1
    shift
    check "$label: runs" run 0 "$@" --
    check "$label: results" as_qemu
    check "$label: tasks" counts 'accel\.[0-9]+\.tasks' 0
}

inline "none" --set nucd.mode=none
check "none: no statistics of offloads" test "$(grep -c '"simt.*nucd' stats.json)" -eq 0
inline "no accelerators" --set accel.count=0
inline "fast-forward" --detail roi
check "kernel: runs" run 0 --env kernel --
check "kernel: results" as_qemu
check "kernel: threads do not offload" counts 'simt\.[0-9]+\.nucd\.offloads' 0
status=0
"$croft" run --set simt.count=2 ./threads >output 2>errors || status=$?
check "no clock: runs" test $status -eq 0
check "no clock: results" as_qemu

# One task on an idle machine, in clocks of the multiprocessor (1.4 GHz), by the numbers of `croft show`. The
# generator reads 3 operands and 4 registers (x, n, gp, tp) at 2 a clock, and writes 7 words: 2 + 2 + 7. The transfer
# takes 2 clocks in the scheduler, 4 flits for 56 bytes of 16, and 40 clocks of the link. The report's way back takes
# 41. The region's loop has 24 rounds of at least 4 instructions, on an accelerator of 1 GHz that issues 2 a clock.
check "one: runs" run 0 -- clocks
check "one: generator" counts 'simt\.[0-9]+\.nucd\.generator_cycles' 11
check "one: transfer" counts 'simt\.[0-9]+\.nucd\.transfer_cycles' 46
start=$(value 'simt\.[0-9]+\.nucd\.start_cycles')
clean=$(value 'simt\.[0-9]+\.nucd\.cleaning_cycles')
region=$((24 * 4 * 14 / (2 * 10)))
check "one: parts" counts 'simt\.[0-9]+\.nucd\.offload_cycles' $((11 + 46 + start))
check "one: elapsed" counts 'simt\.[0-9]+\.nucd\.elapsed_cycles' $((11 + 46 + start + clean))
warp=$(value 'simt\.[0-9]+\.nucd\.warp_cycles')
check "one: the warp waits for all parts" test "$warp" -ge $((11 + 46 + start + clean + region + 41))
seen=$(sed -nE 's/^([0-9]+) cycles$/\1/p' output)
# Before the nucd issues, the thread's stores to its stack are answered.
check "one: the thread sees the cycles" test $((seen - warp)) -ge 0 -a $((seen - warp)) -le 600
# From a task in the queue to the region's first instruction, firmware accesses its unit ten times (start.S: TAKE,
# SUMMARY, BEGIN, s5 to s8, gp, START, tp), one after the other: 20 more clocks of the accelerator, 1 ns each, for each of
# them are 280 of the multiprocessor. At the region's end, it accesses the unit five times before the report (trap: RESULT,
# STATUS, FORMAT, RESULT, FFLAGS): 140 more. Below about 60 clocks, an access overlaps the fetch of firmware's code.
check "slow unit: runs" run 0 --set nucd.unit_clocks=62 -- clocks
slow=$(value 'simt\.[0-9]+\.nucd\.start_cycles') slow_warp=$(value 'simt\.[0-9]+\.nucd\.warp_cycles')
check "slow unit: start has all accesses" test "$slow" -ge $((10 * 62 * 14 / 10))
check "slower unit: runs" run 0 --set nucd.unit_clocks=82 -- clocks
check "slower unit: start" counts 'simt\.[0-9]+\.nucd\.start_cycles' $((slow + 280))
check "slower unit: the other parts" counts 'simt\.[0-9]+\.nucd\.offload_cycles' $((11 + 46 + slow + 280))
check "slower unit: the warp" counts 'simt\.[0-9]+\.nucd\.warp_cycles' $((slow_warp + 280 + 140))
check "slow link: runs" run 0 --set nucd.link_clocks=140 -- clocks
check "slow link: both ways" test $(($(value 'simt\.[0-9]+\.nucd\.warp_cycles') - warp)) -ge 195
check "slow link: both ways at most" test $(($(value 'simt\.[0-9]+\.nucd\.warp_cycles') - warp)) -le 205

thread='in thread \(5, 0, 0\) of block \(1, 0, 0\) of launch 1, lane 5 of warp 0'
check "fault: ends" run 139 -- fault
check "fault: the thread" says "$thread"
check "fault: the address" says 'load of 8 bytes from 0x8, outside of the memory'
check "fault: the place" says '^  at 0x[0-9a-f]+, peek_region .*threads.c:[0-9]+'
check "fault: the accelerator" says 'on accelerator [0-9]+, in the task of the nucd at 0x[0-9a-f]+, fault'
check "call: ends" run 159 -- calls
check "call: the thread" says "$thread"
check "call: message" says 'system call in a region: the host does not serve it'
check "waits: ends" run 0 -- waits
check "waits: result" grep -q '^waits .* good$' output
check "hang: ends" run 124 --max-insns 300000 -- hang
check "hang: message" says 'stopped after 300000 instructions \(--max-insns\)'
check "hang: ends by time" run 124 --set nucd.timeout=100us -- hang
check "hang: message names the region" says 'has not ended on accelerator [0-9]+ within 100 us .* await_region'
conclude
