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

# A region that faults stops in its accelerator's thread, at the instruction, with the region's registers, locals and callers
# up to main, whose frames are on the host's stack. Breakpoints and watchpoints work before. The signal ends the program.
test_region_fault() {
    local options=$1
    # shellcheck disable=SC2086 # several words
    start -m nucd --set accel.count=4 $options "$OUT/fault" 2
    debug "$OUT/fault" <<'EOF'
break put if place == elements + 30
continue
delete
watch elements[60]
continue
delete
continue
print $_thread
print $priv
print/x $a0
print $a1
x/i $pc
info threads
backtrace -past-main
up
info locals
frame 4
print tag
print elements[190]
thread 1
backtrace
print $priv
continue
EOF
    expect "fault in a region, $options" <<'EOF'
Thread [2345] hit Breakpoint 1, put (*
Thread [2345] hit Hardware watchpoint 2: elements*
New value = 61
Thread * received signal SIGSEGV, *
put (place=0x0, value=*
14*the store that faults*
$1 = [2345]
$2 = 0
$3 = 0x0
$4 = 64
=> *<put>:*sw*a1,0(a0)
  1 *Thread 1 (*user mode, at the instruction that began the task)* in fill *
\* [2345] *Thread * (hart *, user mode, faulted in a region)*put (*
#0  put (place=0x0, *
#1  * in fill_body (bad=63, *
#2  fill_region (*
#3  * in fill (bad=63, *
#4  start (*
#5  * in main (*
#6  * in _start () *
#1  * in fill_body (bad=63, *
i = 63
#4  start (*
$5 = 4711
$6 = 63
#0  * in fill (bad=63, *
#1  start (*
#2  * in main (*
$7 = 0
Program terminated with signal SIGSEGV, *
EOF
    finish "fault in a region, $options" 139
    check "fault in a region, $options: message" grep -q 'registers: a0=0x0 a1=0x40 ra=' "$OUT/stderr"
}

# While a region runs, its callers and their variables are found, too; a value that gdb stores is what the host reads, although
# it is ahead of the task.
test_region_callers() {
    local options
    for options in "" "--env kernel" "--set host.core=inorder"; do
        # shellcheck disable=SC2086 # several words
        start -m nucd --set accel.count=4 $options "$OUT/fault" 4
        debug "$OUT/fault" <<'EOF'
break put if place == elements + 30
continue
info threads
backtrace -past-main
frame 4
print tag
set var tag = 5000
delete
continue
EOF
        expect "callers of a region, $options" <<'EOF'
Thread 2 hit Breakpoint 1, put (*
* 2 *Thread 2 (hart 1, accelerator 0, user mode)*
#0  put (*
#1  * in fill_body (*
#4  start (*
#5  * in main (*
#6  * in _start () *
$1 = 4711
*exited normally]
EOF
        finish "callers of a region, $options" 0
        same "callers of a region, $options: output" "5000 8320" "$(cat "$stdout")"
    done
}

# Two regions fault. Each is mended in turn, in its registers, and continues; the program ends as without faults.
test_region_mend() {
    start -m nucd --set accel.count=4 "$OUT/fault" 2
    debug "$OUT/fault" <<'EOF'
continue
info threads
print $a0 = elements + 191
print $f3.double = 2.5
print elements[250] = 7
signal 0
info threads
print $pc = $pc + 1
print $pc = $pc
print $a0 = elements + 192
signal 0
EOF
    expect "mended regions" <<'EOF'
Thread 4 received signal SIGSEGV, *
  1 *at the instruction that began the task)*
\* 4 *user mode, faulted in a region)*put (place=0x0, *
  5 *(hart 4, accelerator 3, user mode, stopped in a region, waits for the host)*put (place=0x0, *
$1 = *
$2 = 2.5
$3 = 7
Thread 5 received signal SIGSEGV, *
\* 5 *user mode, faulted in a region)*put (place=0x0, *
Could not write register *
*exited normally]
EOF
    finish "mended regions" 0
    same "mended regions: output" "4711 8320" "$(cat "$stdout")"
}

# What the host's own fault shows beneath the kernel, which does not let the program continue.
test_kernel_fault() {
    start --env kernel "$OUT/program" fault
    debug "$OUT/program" <<'EOF'
continue
print $priv
info threads
backtrace
x/i $pc
print $a0 = 1
signal 0
EOF
    expect "fault beneath the kernel" <<'EOF'
Program received signal SIGSEGV, *
*the store that faults*
$1 = 0
*(hart 0, user mode, faulted)*
#0 *
Could not write register *
Program terminated with signal SIGSEGV, *
EOF
    finish "fault beneath the kernel" 139
}
