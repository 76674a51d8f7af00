# Sessions with a user program. gdb.sh sources this file.
# shellcheck shell=bash disable=SC2016,SC2034,SC2153,SC2154 # variables are shared between the parts

test_steps() {
    start "$OUT/program"
    debug "$OUT/program" <<'EOF'
break main
continue
step
next
break half
continue
backtrace
info args
finish
delete
tbreak count
continue
stepi
print until
EOF
    expect "steps" <<'EOF'
_start () at *
Breakpoint 1, main (argc=1, *
*struct point point = {3, -4, "corner"};
*const char \*what = *
*int product = factorial(5);
Breakpoint 2, half (value=1) at *
#0  half (value=1) at *
#1  * in main (argc=1, *
value = 1
* in main *
*double quarter = half(half(1.0));
Value returned is $1 = 0.5
Temporary breakpoint 3, count (until=3) at *
$2 = 3
EOF
    finish "steps" 3
    same "steps: output" "corner 120 0.25 3 6" "$(cat "$OUT/stdout")"
}

test_recursion() {
    start "$OUT/program"
    debug "$OUT/program" <<EOF
break gdb_program.c:$(line_of gdb_program.c innermost)
continue
backtrace
print n
up 3
print n
finish
EOF
    expect "recursion" <<'EOF'
Breakpoint 1, factorial (n=1) at *
#0  factorial (n=1) at *
#1  * in factorial (n=2) at *
#2  * in factorial (n=3) at *
#3  * in factorial (n=4) at *
#4  * in factorial (n=5) at *
#5  * in main *
$1 = 1
#3 *
$2 = 4
EOF
    finish "recursion" 3
}

test_values() {
    start "$OUT/program"
    debug "$OUT/program" <<'EOF'
break count
continue
up
print point
print point.name
print product
print/x $sp == $fp
print $fa0
set variable point.x = 77
set variable scale = 3
print half(7)
print factorial(4)
print $a0
set $a7 = 0x123456789abcdef0
print/x $a7
set $fs0 = 1.5
print $fs0.double
p/x $fs0
set $fcsr = 0x61
print $frm
print $fflags
print $zero
set $zero = 1
print $zero
print $priv
x/2i $pc
x/s point.name
print *(int *) 0
set variable *(int *) 0 = 1
print $nonsense
print counter
set variable counter = 2
delete
continue
EOF
    expect "values" <<'EOF'
$1 = {x = 3, y = -4, name = 0x* "corner"}
$2 = 0x* "corner"
$3 = 120
$4 = 0x*
$5 = {float = *, double = 0.25}
$6 = 21
$7 = 24
$8 = *
$9 = 0x123456789abcdef0
$10 = 1.5
$11 = {float = 0x0, double = 0x3ff8000000000000}
$12 = 3
$13 = 1
$14 = 0
$15 = 0
$16 = 0
=> 0x* <main+*>:*
0x*:*"corner"
Cannot access memory at address 0x0
Cannot access memory at address 0x0
$17 = void
$18 = 0
*exited with code 0115]
EOF
    finish "values" 77
    same "values: output" "corner 120 0.25 3 6" "$(cat "$OUT/stdout")"
}

test_registers() {
    start "$OUT/program"
    debug "$OUT/program" <<'EOF'
break main
continue
info registers
info registers float
info registers csr
info all-registers
EOF
    expect "registers" <<'EOF'
ra  *0x*<_start+*
sp  *
t6  *
pc  *0x*<main+*
ft0  *{float = 0, double = 0}*
ft11  *
fcsr  *0x0*
zero  *
fs11  *
instret  *
priv  *
EOF
    finish "registers" 3
}

test_watch() {
    start "$OUT/program"
    debug "$OUT/program" <<'EOF'
watch counter
continue
continue
continue
delete
rwatch total
continue
delete
awatch total
continue
delete
watch counter if counter == 1000
tbreak printf
continue
EOF
    expect "watch" <<'EOF'
Hardware watchpoint 1: counter
Old value = 0
New value = 1
*while (counter < until)
Old value = 1
New value = 2
Old value = 2
New value = 3
Hardware read watchpoint 2: total
Value = 5
Hardware access (read/write) watchpoint 3: total
Old value = 5
New value = 6
Temporary breakpoint 5, * printf *
EOF
    finish "watch" 3
}

test_hardware_break() {
    start "$OUT/program"
    debug "$OUT/program" <<'EOF'
thbreak half
hbreak count
continue
continue
info breakpoints
continue
EOF
    expect "hardware breakpoints" <<'EOF'
Temporary breakpoint 1, half (value=1) at *
Breakpoint 2, count (until=3) at *
*breakpoint already hit 1 time
*exited with code 03]
EOF
    finish "hardware breakpoints" 3
}

# After gdb has moved the pc away from a breakpoint, the program stops there again: on every kind of core.
test_moved_pc() {
    local machine
    for machine in functional ddr3 nucd; do
        start -m "$machine" "$OUT/program"
        debug "$OUT/program" <<'EOF'
break *half
continue
set $pc = $ra
continue
info breakpoints
delete
print half(4)
print half(6)
continue
EOF
        expect "moved pc on $machine" <<'EOF'
*Breakpoint 1, half *
*Breakpoint 1, half *
*breakpoint already hit 2 times
$1 = 2
$2 = 3
*exited with code 03]
EOF
        finish "moved pc on $machine" 3
    done
}

test_monitor() {
    start -m ddr3 "$OUT/program"
    debug "$OUT/program" <<'EOF'
break main
continue
monitor help
monitor stats
monitor stats hart.*.instr*
monitor stats hart.?.none
monitor machine
monitor regs
monitor threads
monitor reset
monitor stat
info threads
EOF
    expect "monitor" <<'EOF'
Breakpoint 1, main *
help  *
hart.0.instructions * # instructions retired (instructions)
hart.0.instructions * # instructions retired (instructions)
no statistic's name matches 'hart.?.none'*
*harts: 1 *
pc   0x00000000800*  user mode
zero 0x0000000000000000  ra *
\* thread 1: user mode, pc 0x8*
a user program cannot be reset*
unknown monitor command 'stat'; did you mean 'stats'?
\* 1 *Thread 1 (user mode)* main *
EOF
    finish "monitor" 3
}

# A trap stops the program; delivering the signal ends the program as without gdb.
test_death() {
    local what=$1 signal=$2 status=$3 text=$4
    start "$OUT/program" "$what"
    debug "$OUT/program" <<'EOF'
continue
x/i $pc
continue
EOF
    expect "$what" <<EOF
Program received signal $signal, *
$text
Program terminated with signal $signal, *
EOF
    finish "$what" "$status"
}

test_abort() {
    start "$OUT/program" abort
    debug "$OUT/program" <<'EOF'
continue
EOF
    expect "abort" <<'EOF'
Program terminated with signal SIGABRT, Aborted.
EOF
    finish "abort" 134
}

# Ctrl-C in an endless loop; gdb disconnects and the program runs on; a second gdb connects and kills it.
test_interrupt() {
    start "$OUT/program" loop
    debug "$OUT/program" <<EOF
shell (until grep -q corner '$OUT/stdout'; do sleep 0.02; done; sleep 0.2; kill -INT \$PPID) &
continue
print what
print \$_siginfo
stepi
next
detach
EOF
    expect "interrupt" <<'EOF'
Program received signal SIGINT, Interrupt.
*main (*
$1 = 0x* "loop"
\[Inferior 1 (Remote target) detached]
EOF
    debug "$OUT/program" <<'EOF'
print what
set variable forever = 0
break abort
kill
EOF
    expect "interrupt: second gdb" <<'EOF'
*main (*
$1 = 0x* "loop"
\[Inferior 1 (Remote target) killed]
EOF
    finish "interrupt" 137
}

# A launch without a clock is interrupted as other code is; its call is one step.
test_launch() {
    local options
    for options in "" "--env kernel"; do
        # shellcheck disable=SC2086 # several words
        start --set simt.count=1 $options "$OUT/launch"
        debug "$OUT/launch" <<EOF
tbreak main
continue
shell (until grep -q corner '$OUT/stdout'; do sleep 0.02; done; sleep 0.2; kill -INT \$PPID) &
continue
print ended
set variable stop = 1
tbreak printf
continue
print ended
continue
EOF
        expect "launch $options" <<'EOF'
Thread 1 received signal SIGINT, Interrupt.
$1 = 0
*Temporary breakpoint 2, *printf*
$2 = 4
\[Inferior 1 (Remote target) exited normally]
EOF
        finish "launch $options" 0
    done
}

# gdb reads the core file of a program that died: frames, variables, memory and floating-point state. A program that ends
# leaves none, and what cannot be written is said.
test_core() {
    local options core=$OUT/core
    for options in "" "--env kernel" "-m nucd"; do
        rm -f "$core"
        # shellcheck disable=SC2086 # several words
        "$CROFT" run $options --core "$core" "$OUT/program" fault >"$OUT/stdout" 2>"$OUT/stderr" </dev/null || true
        timeout 600 gdb-multiarch -nx -q -batch -ex backtrace -ex 'print point' -ex 'print quarter' \
            -ex 'print argv[1]' -ex 'x/i $pc' "$OUT/program" "$core" >"$OUT/gdb" 2>&1 </dev/null || true
        expect "core, $options" <<'EOF'
Program terminated with signal SIGSEGV, *
#0  * in main (argc=2, *
$1 = {x = 3, y = -4, name = * "corner"}
$2 = 0.25
$3 = * "fault"
=> *sw*
EOF
    done
    # A region that faults: its accelerator's registers, and its stack in the firmware's memory.
    "$CROFT" cc -g -O1 "$here/gdb_task.c" -o "$OUT/task"
    for options in "" "--env kernel"; do
        # shellcheck disable=SC2086 # several words
        "$CROFT" run -m nucd --set accel.count=3 $options --core "$core" "$OUT/task" >"$OUT/stdout" 2>"$OUT/stderr" </dev/null || true
        timeout 600 gdb-multiarch -nx -q -batch -ex backtrace -ex 'print depth' -ex up -ex 'print depth' -ex 'info threads' \
            "$OUT/task" "$core" >"$OUT/gdb" 2>&1 </dev/null || true
        expect "core of a task, $options" <<'EOF'
Program terminated with signal SIGSEGV, *
#0  * deeper (depth=*0* at *
#1  * deeper (depth=*1* at *
#2  * deeper (depth=*2* at *
$1 = 0
$2 = 1
EOF
        check "four threads, $options" test "$(grep -c '^[* ] [1-4] *LWP ' "$OUT/gdb")" = 4
        check "the host's, $options" grep -q '^  [1-4] *LWP 1 .*fault_far (depth=2)' "$OUT/gdb"
    done
    # With two hosts, accelerators begin with thread 3.
    "$CROFT" run -m nucd --set accel.count=3 --env kernel --set host.count=2 --core "$core" "$OUT/task" >"$OUT/stdout" 2>"$OUT/stderr" </dev/null || true
    timeout 600 gdb-multiarch -nx -q -batch -ex 'info threads' "$OUT/task" "$core" >"$OUT/gdb" 2>&1 </dev/null || true
    check "two hosts: five threads" test "$(grep -c '^[* ] [1-5] *LWP ' "$OUT/gdb")" = 5
    check "two hosts: the accelerator's comes first" grep -q '^[*] 1 *LWP 3 .*deeper (depth=depth@entry=0)' "$OUT/gdb"
    check "two hosts: the first host's" grep -q '^  [2-5] *LWP 1 .*fault_far (depth=2)' "$OUT/gdb"
    echo old >"$core"
    (trap '' XFSZ && ulimit -f 0 && exec "$CROFT" run --core "$core" "$OUT/program" abort) 2>&1 </dev/null | cat >"$OUT/gdb" || true
    if grep -qF "croft: --core: cannot write '$core': File too large" "$OUT/gdb" && grep -qx old "$core"; then pass; else fail "core: no room" "$(cat "$OUT/gdb")"; fi
    "$CROFT" run --core /dev/stdout "$OUT/program" abort 2>"$OUT/stderr" </dev/null | cat >/dev/null || true
    if grep -qF "croft: --core: cannot write '/dev/stdout': it is no regular file" "$OUT/stderr"; then pass; else fail "core: a pipe" "$(cat "$OUT/stderr")"; fi
    rm -f "$core"
    "$CROFT" run --core "$core" "$OUT/program" >"$OUT/stdout" 2>&1 </dev/null || true
    if [ -e "$core" ]; then fail "core: of a program that ended"; else pass; fi
    "$CROFT" run --core "$OUT/none/core" "$OUT/program" abort >"$OUT/stdout" 2>&1 </dev/null || true
    if grep -qF "croft: --core: cannot write '$OUT/none/core': No such file" "$OUT/stdout"; then pass; else fail "core: unwritable" "$(cat "$OUT/stdout")"; fi
}
