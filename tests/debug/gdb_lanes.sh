# Sessions with threads on multiprocessors. gdb.sh sources this file.
# shellcheck shell=bash disable=SC2034,SC2153,SC2154 # variables are shared between the parts

# A breakpoint in a kernel stops a warp; its lanes are threads, with registers, variables and stacks of their own.
test_lanes() {
    local options
    for options in "--set simt.count=2" "-m gpu" "--set simt.count=2 --env kernel" "-m gpu --env kernel"; do
        # shellcheck disable=SC2086 # several words
        start $options "$OUT/warps"
        debug "$OUT/warps" <<EOF
break twice
continue
info threads
thread apply 2 5 print value
backtrace
stepi
delete
finish
break behind
continue
print shared[1]
set \$kept = \$pc
thread 34
set scheduler-locking on
set \$was = \$pc
stepi
print \$pc == \$was
thread 3
print \$pc == \$kept
set scheduler-locking off
delete
continue
EOF
        expect "lanes, $options" <<'EOF'
\[Switching to Thread 3]
Thread 2 hit Breakpoint 1, twice (value=1) at *
  1    Thread 1 (*
\* 2    Thread 3 (multiprocessor 0, block (0, 0, 0), warp 0, lane 1) *twice (value=1) at *
  3    Thread 2 (multiprocessor 0, block (0, 0, 0), warp 0, lane 0) *
  5    Thread 5 (multiprocessor 0, block (0, 0, 0), warp 0, lane 3) *twice (value=3) at *
  33   Thread 33 (multiprocessor 0, block (0, 0, 0), warp 0, lane 31) *twice (value=31) at *
  34   Thread 34 (multiprocessor 0, block (0, 0, 0), warp 1, lane 0) *
$1 = 1
$2 = 3
#0  twice (value=1) at *
#1  * in work (w=*) at *
Value returned is $3 = 2
Thread * hit Breakpoint 2, behind (shared=0x600000000000) at *
$4 = 2
\[Switching to thread 34 (Thread 34)*
$5 = 0
$6 = 1
\[Inferior 1 (Remote target) exited normally]
EOF
        finish "lanes, $options" 0
        same "lanes, $options: output" "total 6080" "$(cat "$stdout")"
    done
}

# A lane's trap stops the program; delivering the signal ends it as without gdb.
test_lane_fault() {
    local options
    for options in "--set simt.count=2" "-m gpu" "--set simt.count=2 --env kernel" "-m gpu --env kernel"; do
        # shellcheck disable=SC2086 # several words
        start $options "$OUT/warps" bad
        debug "$OUT/warps" <<'EOF'
continue
print mine
info threads
continue
EOF
        expect "fault of a lane, $options" <<'EOF'
Thread 2 received signal SIGSEGV, *
*the fault*
$1 = 74
\* 2    Thread * (multiprocessor *, block (1, 0, 0), warp 1, lane 5) *
Program terminated with signal SIGSEGV, *
EOF
        finish "fault of a lane, $options" 139
    done
}

# Ctrl-C in simt_wait(), and a stop of an accelerator to which a thread has offloaded, do not change what simt_wait() returns.
test_lane_wait() {
    local options
    for options in "--set simt.count=1" "-m gpu" "-m gpu --env kernel" "-m nucd --set simt.count=1"; do
        # shellcheck disable=SC2086 # several words
        start $options "$OUT/wait"
        debug "$OUT/wait" <<EOF
shell (until grep -q corner '$stdout'; do sleep 0.02; done; sleep 0.2; kill -INT \$PPID) &
continue
info threads
set variable stop = 1
break gdb_wait.c:$(line_of gdb_wait.c 'in the region')
continue
continue
delete
continue
EOF
        expect "wait, $options" <<'EOF'
Thread 1 received signal SIGINT, *
*multiprocessor 0, block (0, 0, 0), warp 0, lane 0) *
Thread * hit Breakpoint 1, fill_body (value=3, *
Thread * hit Breakpoint 1, fill_body (value=3, *
\[Inferior 1 (Remote target) exited normally]
EOF
        finish "wait, $options" 0
        same "wait, $options: output" "corner"$'\n'"last 3" "$(cat "$stdout")"
    done
}

# A block of machine tom with a breakpoint in it, and one of which a lane is stepped, are executed in front; the others are
# offloaded.
test_lane_blocks() {
    local again='offload.refused.debugged": [1-9]'
    "$CROFT" cc -g -O2 "$here/../tom/blocks.c" -o "$OUT/plain"
    "$CROFT" candidates -m tom -o "$OUT/blocks" "$OUT/plain" >/dev/null
    start -m tom --stats "$OUT/stats.json" "$OUT/blocks" shared
    debug "$OUT/blocks" <<EOF
break blocks.c:$(grep -n 'cells\[i [*] THREADS\] = sum;' "$here/../tom/blocks.c" | head -n 1 | cut -d: -f1)
continue
continue
stepi
stepi
delete
continue
EOF
    expect "blocks of tom" <<'EOF'
Thread * hit Breakpoint 1, *sweep *
Thread * hit Breakpoint 1, *sweep *
\[Inferior 1 (Remote target) exited normally]
EOF
    finish "blocks of tom" 0
    same "blocks of tom: output" "$(qemu-riscv64 "$OUT/plain" shared)" "$(cat "$stdout")"
    same "blocks of tom: in front" 1 "$(grep -cE "\"$again" "$OUT/stats.json")"
    same "blocks of tom: offloaded" 1 "$(grep -cE '"offload.offloaded": [1-9]' "$OUT/stats.json")"
}

# What cannot be done is refused; lists show as many lanes as wanted; gdb leaves, and the program runs on.
test_lane_lists() {
    start -m gpu "$OUT/warps"
    debug "$OUT/warps" <<'EOF'
break twice
continue
set variable $t3 = 5
print $t3
monitor lanes none
monitor lanes all
info threads
monitor threads
set variable $pc = $pc + 4
detach
EOF
    expect "lists of lanes" <<'EOF'
Thread 2 hit Breakpoint 1, twice (value=1) at *
$1 = 5
lanes none: not allowed; allowed: lanes all, lanes warp
*Thread 1571 (multiprocessor 1, block (1, 0, 0), warp 1, lane 1)*
\* thread 3: multiprocessor 0, block (0, 0, 0), warp 0, lane 1, pc 0x8*
Could not write register "pc"*
\[Inferior 1 (Remote target) detached]
EOF
    finish "lists of lanes" 0
    same "lists of lanes: output" "total 6080" "$(cat "$stdout")"
}
