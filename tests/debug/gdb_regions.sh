# Sessions with regions that accelerators execute, with and without the kernel. gdb.sh sources this file.
# shellcheck shell=bash disable=SC2034,SC2153,SC2154 # variables are shared between the parts

# Each accelerator is a thread: breakpoints, backtraces, single steps and watchpoints work in its regions. A breakpoint at
# the end of a region, where the accelerator's task unit watches, can be inserted and removed.
test_regions() {
    local options
    for options in "" "--env kernel"; do
        # shellcheck disable=SC2086 # several words
        start -m nucd --set accel.count=2 $options "$OUT/regions"
        debug "$OUT/regions" <<'EOF'
info threads
break sum_region
continue
backtrace
print croft_raw1
print $priv
stepi
print $pc > (long)sum_region
up
break *$pc
stepi
delete
watch chain[48]
continue
backtrace 1
delete
continue
EOF
        expect "regions, $options" <<'EOF'
  3 *Thread 3 (hart 2, *
Thread [23] hit Breakpoint 1, sum_region (*, croft_raw1=0) at *
#0  sum_region (*
#1  * in sum (more=0, *
#2  main *
$1 = 0
$2 = 0
$3 = 1
Thread [23] hit Hardware watchpoint 3: chain*
Old value = *
New value = 6
#0 *follow_*
EOF
        finish "regions, $options" 0
        same "regions, $options: output" "6 10 7" "$(cat "$OUT/stdout")"
    done
}

# gdb lets one accelerator move alone: through its region beneath the kernel and into the firmware, where it waits for the
# host, which gdb holds. A step ends there, too. The time that passes meanwhile is not the task's (nucd.timeout), a condition
# at another breakpoint is evaluated as often as threads come by, and the program ends as without gdb.
test_held() {
    local options
    for options in "" "--env kernel"; do
        # shellcheck disable=SC2086 # several words
        start -m nucd --set accel.count=3 $options "$OUT/regions"
        debug "$OUT/regions" <<EOF
tbreak trace_tasks.c:$(line_of ../nucd/programs/trace_tasks.c 'more += from')
continue
break trace_tasks.c:$(line_of ../nucd/programs/trace_tasks.c 'to[i] = ') if \$pc == 0
break trace_tasks.c:$(line_of ../nucd/programs/trace_tasks.c 'more += from') thread 3 if from == 1000
set scheduler-locking on
stepi 200
monitor machine
set scheduler-locking off
thread 2
stepi
thread 3
stepi
continue
EOF
        expect "held, $options" <<'EOF'
*  timeout: 1000 s*
*exited normally]
EOF
        finish "held, $options" 0
        same "held, $options: output" "6 10 7" "$(cat "$OUT/stdout")"
    done
}

# Accelerators that come to a breakpoint while gdb moves another one over it alone are reported when gdb moves them, not
# before, and none of their hits is lost: 5 tasks of 8 iterations.
test_all_hits() {
    start -m nucd --set accel.count=5 "$OUT/regions"
    debug "$OUT/regions" <<EOF
break trace_tasks.c:$(line_of ../nucd/programs/trace_tasks.c 'more += from')
ignore 1 1000
continue
info breakpoints
EOF
    expect "all hits" <<'EOF'
*Inferior 1 (Remote target) exited normally*
*breakpoint already hit 40 times*
EOF
    finish "all hits" 0
}
