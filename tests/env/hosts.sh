#!/usr/bin/env bash
# Threads of a program on several hosts beneath the kernel: output and exit status of qemu-riscv64 in every mode, statistics by
# host, fairness, messages. Variables: CROFT (the command), OUT (a folder for products).
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
CROFT=$(realpath "${CROFT:-build/bin/croft}")
OUT=${OUT:-build/tests/hosts}
OUT=$(fresh "$OUT")
guest=$OUT/guest_hosts

# shellcheck source=tests/env/nucd_lib.sh
source "$here/nucd_lib.sh"

# hosts COUNT ACCELERATORS MODE ARGUMENTS...: runs the guest on that many hosts; sets $status.
hosts() {
    run_on "$1" "$2" "$3" 100 "$guest" "${@:4}"
}

"$CROFT" cc -O2 -g "$here/guest_hosts.c" -o "$guest"

while read -r threads count mode; do
    oracle "$OUT/wanted" "$guest" work "$threads"
    hosts "$threads" "$count" "$mode" work "$threads"
    check "$threads threads, $count accelerators, $mode" same
    check "nothing to say" [ ! -s "$OUT/errors" ]
done <<'END'
2 1 driver
2 4 driver
2 1 nucd
2 4 nucd
8 4 driver
8 3 nucd
END
oracle "$OUT/wanted" "$guest" work 4
hosts 2 2 driver work 4
check "more threads than hosts: start fails, and the caller does the work" same
hosts 1 2 driver work 4
check "one host" same
check "one host: a warning" says 'no host is left for another thread, so the program cannot start it: run it on a machine with a clock and more hosts'
status=0
"$CROFT" run "$guest" work 4 >"$OUT/output" 2>"$OUT/errors" || status=$?
check "without the kernel" same
check "without the kernel: a warning" says 'no host is left for another thread'
status=0
"$CROFT" run --env kernel -m virt --set harts=3 "$guest" work 4 >"$OUT/output" 2>"$OUT/errors" || status=$?
check "harts without a clock" same

# Each of the two rounds has ROUNDS = 4 calls of 4 tasks and 4 tasks alone, in each of 3 threads.
hosts 3 4 driver work 3
for host in '' 1. 2.; do
    check "tasks of host ${host:-0}" [ "$(counted "${host}driver_tasks")" = 40 ]
    check "calls of host ${host:-0}" [ "$(counted "${host}driver_calls")" = 16 ]
done
tasks=$(sed -n 's/^ *"accel\.[0-9]*\.tasks": \([0-9]*\),*$/\1/p' "$OUT/stats.json" | head -n 4 | paste -sd+ | bc)
check "are the accelerators' tasks" [ "$tasks" = 120 ]
hosts 3 1 driver work 3
check "hosts wait for the only accelerator" [ "$(counted 2.driver_turn_cycles)" -gt 10000 ]
hosts 1 4 driver work 1
check "one host never waits for others" [ "$(counted driver_turn_cycles)" = 0 ]

for what in floats protect outlive refusals crash exit fault; do
    oracle "$OUT/wanted" "$guest" $what
    for mode in driver nucd; do
        hosts 2 4 $mode $what
        check "$what, $mode" same
    done
done
oracle "$OUT/wanted" "$guest" clocks
hosts 2 4 driver clocks
check "CPU clocks of two hosts that sleep, beneath the kernel" same
for machine in "-m ddr3 --set host.count=2" "--env kernel -m virt --set harts=2"; do
    # shellcheck disable=SC2086 # several words
    "$CROFT" run $machine "$guest" clocks >"$OUT/output" 2>"$OUT/errors"
    check "CPU clocks of two hosts that sleep, $machine" same
done

hosts 2 4 driver fault
check "a fault in a region, driver: where" says 'in the task of the nucd at'
check "and of which host" says 'in the thread on host 1'
hosts 2 4 nucd fault
check "a fault in a region, nucd: where" says 'in the task of the nucd at'
check "and of which host" says 'in the thread on host 1'
oracle "$OUT/wanted" "$guest" call
hosts 2 4 nucd call
check "a system call in a region of another host" same

# The other host's task waits for what one accelerator has, two tasks of 64 on four accelerators (a task has two lines of the
# queue), not for the 32 tasks that remain.
for mode in driver nucd; do
    options=(--set nucd.queue_lines=4)
    hosts 2 4 $mode share
    read -r all one <"$OUT/output"
    check "a host that fills the queues, $mode: $one of $all cycles" [ "$one" -lt $((all / 8 + 10000)) ]
done
conclude
