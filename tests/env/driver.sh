#!/usr/bin/env bash
# The kernel's conventional driver and its handling of nucd's faults. Programs with regions give the output
# and exit status of qemu-riscv64 in every mode; costs agree with the statistics. Variables: CROFT (the
# command), OUT (a folder for products).
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../../examples
CROFT=$(realpath "${CROFT:-build/bin/croft}")
OUT=${OUT:-build/tests/driver}
OUT=$(fresh "$OUT")

# shellcheck source=tests/env/nucd_lib.sh
source "$here/nucd_lib.sh"

# machine ACCELERATORS MODE PROGRAM ARGUMENTS...: runs the program on the kernel, with one host; sets $status.
machine() {
    run_on 1 "$1" "$2" 500 "${@:3}"
}

"$CROFT" cc -O0 -g "$here/guest_driver.c" -o "$OUT/guest0"
"$CROFT" cc -O2 -g "$here/guest_driver.c" -o "$OUT/guest2"
"$CROFT" cc -O2 -g "$examples/nucd_vector.c" -o "$OUT/vector"
for name in ebox meabo2 meabo5 spatter spmv stride; do
    "$CROFT" cc -O2 -g "$examples/nucd/$name.c" -lm -o "$OUT/$name"
done

for name in guest0 guest2; do
    oracle "$OUT/wanted" "$OUT/$name"
    for count in 1 4 16; do
        machine $count driver "$OUT/$name"
        check "$name, driver, $count accelerators" same
    done
    machine 4 none "$OUT/$name"
    check "$name, none" same
    for count in 1 4 16; do
        machine $count nucd "$OUT/$name"
        check "$name, nucd, $count accelerators" same
    done
    check "$name, nucd: the kernel maps what tasks touch first" [ "$(counted resumed)" -gt 0 ]
done

# Freeing memory makes accelerators flush their cached ranges: the kernel writes RANGES.
"$CROFT" cc -O2 -g "$here/guest_ranges.c" -o "$OUT/ranges"
oracle "$OUT/wanted" "$OUT/ranges"
for mode in driver nucd ideal; do
    for count in 1 4; do
        machine $count $mode "$OUT/ranges"
        check "memory at another place, $mode, $count accelerators" same
        check "at the same address" [ ! -s "$OUT/errors" ]
    done
done

# Regions free memory themselves. The driver does not serve calls of regions.
oracle "$OUT/wanted" "$OUT/ranges" region
for mode in nucd ideal; do
    for count in 1 4; do
        machine $count $mode "$OUT/ranges" region
        check "memory that a region replaces, $mode, $count accelerators" same
    done
done

# Queued tasks fault one after the other, because no page of the output has been accessed before.
oracle "$OUT/wanted" "$OUT/vector"
for count in 1 3; do
    machine $count nucd "$OUT/vector"
    check "fault behind fault, $count accelerators" same
done

oracle "$OUT/wanted" "$OUT/guest2"
options=(--set nucd.queue_lines=2)
machine 2 driver "$OUT/guest2"
check "queues of two lines" same
check "tasks wait for room" [ "$(counted driver_waits)" -gt 300 ]
options=(--set nucd.capabilities=0x7f)
machine 2 driver "$OUT/guest2"
check "a capability that no one has" same
check "which is counted" [ "$(counted malformed.capability)" = 2 ]
check "and warned of" says 'is ignored, and the host runs its region: no accelerator has all of the capabilities in C'
options=()

for name in ebox meabo2 meabo5 spatter spmv stride; do
    oracle "$OUT/wanted" "$OUT/$name"
    for count in 1 16; do
        machine $count driver "$OUT/$name"
        check "$name, driver, $count accelerators" same
    done
done

# All tasks of meabo2 read one vector of 1000 lines, which is cleaned once, at the first task: about 38,000
# cycles in total, instead of 95,000 if each task cleaned it.
machine 16 driver "$OUT/meabo2"
check "a shared input is cleaned once" [ "$(counted driver_clean_cycles)" -lt 60000 ]

# The maximum number of accelerators beside a host.
oracle "$OUT/wanted" "$OUT/stride" 64
for mode in driver nucd; do
    machine 64 $mode "$OUT/stride" 64
    check "stride, $mode, 64 accelerators" same
done
machine 64 driver "$OUT/stride" 64
check "the last of them" grep -q '"accel.63.tasks": 8,' "$OUT/stats.json"

# One call; one page per accelerator; operating-system work once.
oracle "$OUT/wanted" "$OUT/vector"
for count in 4 16; do
    options=(--set nucd.os_clocks=0)
    machine $count driver "$OUT/vector"
    without=$(($(counted driver_cycles) - $(counted driver_wait_cycles)))
    options=(--set nucd.os_clocks=40000)
    machine $count driver "$OUT/vector"
    more=$(($(counted driver_cycles) - $(counted driver_wait_cycles)))
    options=()
    check "vector, $count" same
    check "calls, tasks, pages" [ "$(counted driver_calls) $(counted driver_tasks) $(counted driver_maps)" = "1 16 $count" ]
    check "work once for the call" [ "$(($(counted driver_os_cycles) / 100))" = 400 ]
    check "which is the driver's" [ $more -gt 40000 ]
    check "and comes on top" [ $more -gt $((without + 30000)) ]
done

# The path to the units' registers includes the packets' link. 16 tasks have at least 5 stores and a doorbell each, which take
# a path that is 2 * 100 clocks longer if the host waits for the answers; posted stores do not wait.
oracle "$OUT/wanted" "$OUT/vector"
for posted in 0 15; do
    for clocks in 40 140; do
        options=(--set "nucd.link_clocks=$clocks" --set "host.posted_stores=$posted")
        machine 16 driver "$OUT/vector"
        check "a link of $clocks clocks, $posted posted stores" same
        took[clocks]=$(($(counted driver_cycles) - $(counted driver_wait_cycles)))
    done
    if [ $posted = 0 ]; then
        check "a longer link" [ "${took[140]}" -gt $((took[40] + 16 * 6 * 200)) ]
        waited=${took[140]}
    fi
done
options=()
check "posted stores save at least 5 of 6 answers" [ "$waited" -gt $((took[140] + 16 * 5 * 280)) ]

# Faults that cannot be resolved: exit status and previous output equal QEMU's. In mode nucd, hardware reports
# them to the kernel.
for mode in driver nucd; do
    for what in load store jump illegal; do
        oracle "$OUT/wanted" "$OUT/guest2" $what
        machine 4 $mode "$OUT/guest2" $what
        check "fault $what, $mode" same
        check "fault $what, $mode: where" says guest_driver.c:
        check "fault $what, $mode: by whom" says 'on accelerator 0, in the task of the nucd at'
    done
done
machine 4 driver "$OUT/guest2" call
check "a system call in a region, driver" [ $status = 159 ]
oracle "$OUT/wanted" "$OUT/guest2" call
machine 4 nucd "$OUT/guest2" call
check "a system call in a region, nucd" same
options=(--set 'nucd.timeout=1 ms')
machine 4 driver "$OUT/guest2" endless
check "a task without end" [ $status = 124 ]
check "is named" says 'on accelerator 0 has not ended within 1 ms (nucd.timeout)'
check "and its pc" says '(nucd.timeout); its pc is 0x'
check "and ends after that time" grep -q '"simulated_seconds": "0.001' "$OUT/stats.json"

conclude
