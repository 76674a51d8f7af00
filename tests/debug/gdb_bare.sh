# Sessions with machine-mode programs that croft's firmware starts: traps that end them. gdb.sh sources this file.
# shellcheck shell=bash disable=SC2034,SC2153,SC2154 # variables are shared between the parts

# A trap at which the program gives up stops gdb at the instruction, with the registers of the trap; so does a trap loop.
# The program ends when gdb delivers the signal.
test_bare_faults() {
    local machine
    for machine in virt ddr3; do
        start -m "$machine" --env bare "$OUT/die"
        debug "$OUT/die" <<'EOF'
continue
print $priv
info threads
x/i $pc
backtrace
print $mcause
set variable $pc = $pc + 2
signal 0
EOF
        expect "$machine: a fault" <<'EOF'
Program received signal SIGSEGV, Segmentation fault.
* main () at *die.c:7
*0x08000000 = 1;
$1 = 3
* Thread 1 (hart 0, machine mode, faulted) *
=> *sw*
#0 * main () at *die.c:7
$2 = 7
*exited normally]
EOF
        finish "$machine: a fault" 0
        start -m "$machine" --env bare "$OUT/die"
        debug "$OUT/die" <<'EOF'
continue
monitor reset
continue
continue
EOF
        expect "$machine: the signal of a fault" <<'EOF'
Program received signal SIGSEGV, Segmentation fault.
Program received signal SIGSEGV, Segmentation fault.
Program terminated with signal SIGSEGV, Segmentation fault.
EOF
        finish "$machine: the signal of a fault" 139
        check "$machine: the report" grep -q 'store/AMO access fault, store of 4 bytes to 0x8000000' "$OUT/stderr"
        start -m "$machine" --env bare --trap-loops 10 "$OUT/trap_loop"
        debug "$OUT/trap_loop" <<'EOF'
continue
print $pc
print $mcause
continue
EOF
        expect "$machine: a trap loop" <<'EOF'
Program received signal SIGSEGV, Segmentation fault.
$1 = (void (\*)()) 0x0
$2 = 1
Program terminated with signal SIGSEGV, Segmentation fault.
EOF
        finish "$machine: a trap loop" 139
        check "$machine: the loop's report" grep -q 'trap loop: instruction access fault' "$OUT/stderr"
    done
}

# left NAME: the program has run on alone: it told of its fault once, and has ended by the signal.
left() {
    finish "$1" 139
    same "$1: the program's message" 1 "$(grep -c 'store/AMO access fault, pc' "$OUT/stdout")"
    same "$1: the report" 1 "$(grep -c 'store/AMO access fault, store of 4 bytes' "$OUT/stderr")"
}

# A program without gdb ends at its fault: after detach, before and at the fault; and after a client that let it run has gone.
test_bare_left() {
    start -m virt --env bare "$OUT/die"
    debug "$OUT/die" <<<detach
    left "detached before a fault"
    start -m virt --env bare "$OUT/die"
    debug "$OUT/die" <<<$'continue\ndetach'
    left "detached at a fault"
    start_port -m virt --env bare "$OUT/die"
    exec 4<>"/dev/tcp/127.0.0.1/$port"
    # shellcheck disable=SC2016 # the protocol's dollar
    printf '$c#63' >&4
    exec 4>&-
    left "closed before a fault"
    start_port -m virt --env bare "$OUT/die"
    exec 4<>"/dev/tcp/127.0.0.1/$port"
    # shellcheck disable=SC2016
    printf '$c#63' >&4
    timeout 600 head -c 5 <&4 >/dev/null || true # +$T0b
    exec 4>&-
    left "closed at a fault"
    start -m virt --env bare "$OUT/die"
    debug "$OUT/die" <<<$'continue\nkill'
    finish "killed at a fault" 137
}

# A call without a handler has the signal of Linux for it.
test_bare_call() {
    start -m virt --env bare "$OUT/call"
    debug "$OUT/call" <<<$'continue\ncontinue'
    expect "a call without a handler" <<'EOF'
Program received signal SIGSYS, Bad system call.
Program terminated with signal SIGSYS, Bad system call.
EOF
    finish "a call without a handler" 159
}
