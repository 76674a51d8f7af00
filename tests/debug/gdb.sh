#!/usr/bin/env bash
# Scripted sessions of gdb-multiarch with croft's gdb server. Variables: CROFT (the command), OUT (a folder
# for products).
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
CROFT=$(realpath "${CROFT:-build/bin/croft}")
OUT=${OUT:-build/tests/debug/gdb}
OUT=$(fresh "$OUT")
# The path of a socket must be short; that of OUT may be too long.
sockets=$(mktemp -d)
trap 'rm -rf "$sockets"' EXIT
# shellcheck disable=SC2034 # gdb_lib.sh uses it
socket=$sockets/gdb

for part in lib user harts bare lanes regions together server; do
    # shellcheck source=/dev/null
    source "$here/gdb_$part.sh"
done

"$CROFT" cc -g -O0 "$here/gdb_program.c" -o "$OUT/program"
"$CROFT" cc -g -O0 "$here/gdb_launch.c" -o "$OUT/launch"
"$CROFT" cc -g -O0 "$here/gdb_warps.c" -o "$OUT/warps"
"$CROFT" cc -g -O1 "$here/gdb_wait.c" -o "$OUT/wait"
"$CROFT" cc -g -O1 "$here/../nucd/programs/trace_tasks.c" -o "$OUT/regions"
"$CROFT" cc -g -O1 "$here/gdb_fault.c" -o "$OUT/fault"
"$CROFT" cc -g -O0 -nostdlib -nostartfiles "$here/gdb_harts.c" -o "$OUT/harts"
"$CROFT" cc --bare -g -O0 "$here/../firmware/programs/die.c" -o "$OUT/die"
"$CROFT" cc --bare -g -O0 -DCASE=0 "$here/../firmware/programs/trap_loop.c" -o "$OUT/trap_loop"
echo 'int main(void) { __asm__ volatile("ecall"); }' | "$CROFT" cc --bare -g -O0 -x c - -o "$OUT/call"
test_steps
test_recursion
test_values
test_registers
test_watch
test_hardware_break
test_moved_pc
test_monitor
test_death fault SIGSEGV 139 '*the store that faults*'
test_death illegal SIGILL 132 '=> *unimp*'
test_abort
test_core
test_interrupt
test_launch
test_lanes
test_lane_fault
test_lane_wait
test_lane_lists
test_lane_blocks
test_rubbish
test_options
test_harts
test_schedule
test_step_through_wait
test_reset
test_idle
test_harts_log
test_trap_backtrace
test_bare_faults
test_bare_left
test_bare_call
test_memory_map
test_regions
test_held
test_all_hits
test_region_fault ""
test_region_fault "--env kernel"
test_region_fault "--env kernel --set nucd.mode=driver"
test_region_callers
test_region_mend
test_kernel_fault
compile_together
test_together
test_together_faults
test_usage
test_connections

conclude
