#!/usr/bin/env bash
# Scripted sessions of gdb-multiarch with croft's gdb server. Variables: CROFT (the command), OUT (a folder for products).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
CROFT=$(realpath "${CROFT:-build/bin/croft}")
OUT=${OUT:-build/tests/debug/gdb}
passed=0 failed=0

rm -rf "$OUT"
mkdir -p "$OUT"
OUT=$(realpath "$OUT")
# A socket's path must be short, which that of OUT may not be.
sockets=$(mktemp -d)
trap 'rm -rf "$sockets"' EXIT
socket=$sockets/gdb

pass() {
    passed=$((passed + 1))
}

fail() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
    if [ $# -gt 1 ]; then printf '%s\n' "$2" | sed 's/^/    /'; fi
}

# same NAME WANTED GOT
same() {
    if [ "$2" = "$3" ]; then pass; else fail "$1" "wanted: $2"$'\n'"got:    $3"; fi
}

# start CROFT_OPTIONS... PROGRAM [ARGS...]: croft run in the background, waiting for gdb at $socket. Its output goes to
# the file $stdout.
stdout=$OUT/stdout
start() {
    rm -f "$socket"
    timeout 60 "$CROFT" run --gdb "$socket" "$@" >"$stdout" 2>"$OUT/stderr" </dev/null &
    croft=$!
    for _ in $(seq 500); do
        if [ -S "$socket" ]; then return; fi
        sleep 0.01
    done
    fail "croft run $*: does not listen" "$(cat "$OUT/stderr")"
}

# finish NAME STATUS: croft must end with that exit status.
finish() {
    local status=0
    wait "$croft" || status=$?
    same "$1: exit status" "$2" "$status"
}

# debug PROGRAM: gdb with the commands on standard input, whatever becomes of each; its output goes to $OUT/gdb.
debug() {
    local command
    local -a commands=()
    while IFS= read -r command; do commands+=(-ex "$command"); done
    timeout 60 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex 'set confirm off' -ex 'set width 0' \
        -ex "target remote $socket" "${commands[@]}" "$1" >"$OUT/gdb" 2>&1 </dev/null || true
}

# expect NAME: lines of gdb's output must match the patterns (of bash) on standard input, in this order.
expect() {
    local name=$1 pattern line found
    exec 3<"$OUT/gdb"
    while IFS= read -r pattern; do
        found=0
        while IFS= read -r line <&3; do
            # shellcheck disable=SC2053 # a pattern is wanted
            if [[ $line == $pattern ]]; then
                found=1
                break
            fi
        done
        if [ "$found" = 0 ]; then
            exec 3<&-
            fail "$name: no line (any more) like '$pattern'" "$(cat "$OUT/gdb")"
            return
        fi
    done
    exec 3<&-
    pass
}

# The number of the line in SOURCE that contains TEXT.
line_of() {
    grep -n -m 1 -F "$2" "$here/$1" | cut -d: -f1
}

compile() {
    "$CROFT" cc -g -O0 "$here/gdb_program.c" -o "$OUT/program"
    "$CROFT" cc -g -O0 -nostdlib -nostartfiles "$here/gdb_harts.c" -o "$OUT/harts"
}

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

test_monitor() {
    start "$OUT/program"
    debug "$OUT/program" <<'EOF'
break main
continue
monitor help
monitor stats
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

# A trap stops the program; delivered, it ends it as it would without gdb.
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

# Ctrl-C in an endless loop; gdb goes, the program runs on; a second gdb comes and kills it.
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
* main *
$1 = 0x* "loop"
\[Inferior 1 (Remote target) killed]
EOF
    finish "interrupt" 137
}

# start_port CROFT_OPTIONS... PROGRAM: the same on a free TCP port, which croft names; left in $port.
start_port() {
    : >"$OUT/stderr"
    timeout 60 "$CROFT" run --gdb 0 "$@" >"$OUT/stdout" 2>"$OUT/stderr" </dev/null &
    croft=$!
    until grep -q 'waits for gdb' "$OUT/stderr"; do sleep 0.01; done
    port=$(sed -n 's/.*target remote ://p' "$OUT/stderr")
}

# What is not gdb: rubbish, a wrong checksum, malformed and unknown packets. When it is gone, the program runs on.
test_rubbish() {
    # shellcheck disable=SC2016 # the dollars are the protocol's
    local wanted='-+$E16#ac+$#00+$E0e#da' answer
    start_port "$OUT/program"
    exec 4<>"/dev/tcp/127.0.0.1/$port"
    # shellcheck disable=SC2016
    printf 'GET / HTTP/1.1\r\n\r\n$g#00$mzz,4#c1$xyz#6b$m0,ffffffffffffffff#29' >&4
    answer=$(timeout 10 head -c ${#wanted} <&4 || true)
    exec 4>&-
    same "rubbish" "$wanted" "$answer"
    finish "rubbish" 3
    same "rubbish: output" "corner 120 0.25 3 6" "$(cat "$OUT/stdout")"
}

# An instruction limit, and a log, hold under gdb too.
test_options() {
    start --max-insns 100000 "$OUT/program" loop
    debug "$OUT/program" <<'EOF'
continue
EOF
    expect "limit" <<'EOF'
*exited with code 0174]
EOF
    finish "limit" 124
    # The program asks for the state of its standard output, which must be the same in both runs.
    stdout=/dev/null
    start --log "commit:$OUT/log" "$OUT/program"
    stdout=$OUT/stdout
    debug "$OUT/program" <<'EOF'
break half
continue
backtrace
stepi
delete
continue
EOF
    expect "log" <<'EOF'
Breakpoint 1, half *
#1 * in main *
*exited with code 03]
EOF
    finish "log" 3
    "$CROFT" run --log "commit:$OUT/log.alone" "$OUT/program" >/dev/null || true
    same "log: as without gdb" "$(sha256sum <"$OUT/log.alone")" "$(sha256sum <"$OUT/log")"
}

# start_harts OPTIONS...: the machine-mode program on two harts.
start_harts() {
    start --env bare --set harts=2 "$@" "$OUT/harts"
}

test_harts() {
    start_harts
    debug "$OUT/harts" <<'EOF'
info threads
print/x $pc
break serve
continue
info threads
backtrace 1
print mailbox
print $mhartid
print/x $mie
thread 1
print $mhartid
set $mscratch = 0x1234
print/x $mscratch
set $mhartid = 7
thread 2
print/x $mscratch
continue
delete
watch mailbox.answer
continue
delete
break trap
continue
print $mcause
info symbol $mepc
info registers mstatus
print $mstatus >> 11 & 3
print $priv
delete
continue
EOF
    expect "harts" <<'EOF'
0x0000000000001000 in *
\* 1 *Thread 1 (hart 0, machine mode)*
  2 *Thread 2 (hart 1, machine mode)*
$1 = 0x1000
Thread 2 hit Breakpoint 1, serve () at *
  1 *Thread 1 (hart 0, machine mode)* ask (request=1) at *
\* 2 *Thread 2 (hart 1, machine mode)* serve () at *
#0  serve () at *
$2 = {request = 1, answer = 0, served = 0}
$3 = 1
$4 = 0x8
* ask (request=1) at *
$5 = 0
$6 = 0x1234
Could not write register "mhartid"*
* serve () at *
$7 = 0x0
Thread 2 hit Breakpoint 1, serve () at *
Thread 2 hit Hardware watchpoint 2: mailbox.answer
Old value = 1
New value = 4
Thread 1 hit Breakpoint 3, trap () at *
$8 = 11
hart_main + *
mstatus *MPP:3*
$9 = 3
$10 = 3
*exited with code 037]
EOF
    finish "harts" 31
}

# With scheduler-locking only one hart moves; without it, the others go on while one steps.
test_schedule() {
    start_harts
    debug "$OUT/harts" <<EOF
break serve
continue
set scheduler-locking on
set variable \$before = spins
step
step
next
print spins - \$before
print mailbox
thread 1
step
step
step
print spins - \$before
set scheduler-locking off
delete
break gdb_harts.c:$(line_of gdb_harts.c 'return mailbox.answer')
continue
step
step
next
delete
continue
EOF
    expect "schedule" <<'EOF'
Thread 2 hit Breakpoint 1, serve () at *
*mailbox.answer = request \* request;
*mailbox.served++;*
$1 = 0
$2 = {request = 1, answer = 1, served = 1}
* ask (request=1) at *
Thread 1 hit Breakpoint 2, ask (request=2) at *
*exited with code 037]
EOF
    finish "schedule" 31
}

# A wait in a loop that is stepped through ends, because the other hart answers meanwhile.
test_step_through_wait() {
    start_harts
    debug "$OUT/harts" <<EOF
tbreak gdb_harts.c:$(line_of gdb_harts.c 'MSIP(1) = 1')
continue
next
until $(line_of gdb_harts.c 'return mailbox.answer')
print served
print mailbox.served
kill
EOF
    expect "stepping through a wait" <<'EOF'
Thread 1 hit Temporary breakpoint 1, ask *
*while (mailbox.served == served)
*return mailbox.answer;
$1 = 0
$2 = 1
EOF
    finish "stepping through a wait" 137
}

test_reset() {
    start_harts
    debug "$OUT/harts" <<'EOF'
break trap
continue
monitor stats
monitor threads
monitor reset
maintenance flush register-cache
print/x $pc
continue
print spins > 0
continue
EOF
    expect "reset" <<'EOF'
Thread 1 hit Breakpoint 1, trap () at *
hart.0.instructions *[1-9]* # *
hart.1.instructions *[1-9]* # *
\* thread 1: hart 0, machine mode, pc 0x8*
  thread 2: hart 1, machine mode*
reset;*
$1 = 0x1000
Thread 1 hit Breakpoint 1, trap () at *
$2 = 1
*exited with code 037]
EOF
    finish "reset" 31
}

# All harts wait for an interrupt that never comes: gdb can still interrupt them.
test_idle() {
    start_harts
    debug "$OUT/harts" <<'EOF'
tbreak hart_main if hart == 0
continue
set variable hart = 1
shell (sleep 0.5; kill -INT $PPID) &
continue
info threads
print $pc == sleep_until_rung
up
print hart
kill
EOF
    expect "idle" <<'EOF'
Thread 1 hit Temporary breakpoint 1, hart_main *
*received signal SIGINT, Interrupt.
*Thread 1 (hart 0, machine mode, waits for an interrupt)*sleep_until_rung*
*Thread 2 (hart 1, machine mode, waits for an interrupt)*sleep_until_rung*
$2 = 1
*killed]
EOF
    finish "idle" 137
}

# The debugger changes nothing: breakpoints, and steps that let the others go on, leave the log as it is.
test_harts_log() {
    start_harts --log "commit:$OUT/log"
    debug "$OUT/harts" <<'EOF'
break serve
break trap
continue
stepi
stepi
continue
continue
next
delete
continue
EOF
    expect "log of harts" <<'EOF'
Thread 2 hit Breakpoint 1, serve *
*exited with code 037]
EOF
    finish "log of harts" 31
    "$CROFT" run --env bare --set harts=2 --log "commit:$OUT/log.alone" "$OUT/harts" </dev/null || true
    same "log of harts: as without gdb" "$(sha256sum <"$OUT/log.alone")" "$(sha256sum <"$OUT/log")"
}

# usage STATUS TEXT WHERE: --gdb WHERE must be refused with that message.
usage() {
    local status=0
    timeout 10 "$CROFT" run --gdb "$3" "$OUT/program" >"$OUT/stdout" 2>"$OUT/stderr" </dev/null || status=$?
    same "--gdb $3: exit status" "$1" "$status"
    if grep -qF -- "$2" "$OUT/stderr"; then pass; else fail "--gdb $3" "$(cat "$OUT/stderr")"; fi
}

test_usage() {
    usage 1 "there is no port 65536" 65536
    usage 1 "a port (0 to 65535) or the path of a socket" ""
    usage 1 "a port (0 to 65535) or the path of a socket" "$sockets/$(printf '%0120d' 0)"
    usage 1 "cannot make the socket" "$sockets/none/gdb"
    echo precious >"$sockets/file"
    usage 1 "cannot make the socket" "$sockets/file"
    same "--gdb leaves files alone" precious "$(cat "$sockets/file")"
}

# A TCP port; a socket that a killed croft has left behind, which is replaced.
test_connections() {
    start_port "$OUT/program"
    timeout 60 gdb-multiarch -nx -q -batch -ex "target remote :$port" -ex 'break half' -ex continue -ex 'print value' \
        "$OUT/program" >"$OUT/gdb" 2>&1 </dev/null || true
    expect "TCP" <<'EOF'
Breakpoint 1, half (value=1) at *
$1 = 1
EOF
    finish "TCP" 3
    start "$OUT/program"
    kill -KILL "$(<"/proc/$croft/task/$croft/children")"
    wait "$croft" 2>/dev/null || true
    same "abandoned socket: is there" socket "$(stat -c %F "$socket")"
    : >"$OUT/stderr"
    timeout 60 "$CROFT" run --gdb "$socket" "$OUT/program" >"$OUT/stdout" 2>"$OUT/stderr" </dev/null &
    croft=$!
    until grep -q 'waits for gdb' "$OUT/stderr"; do sleep 0.01; done
    same "socket: only for this user" "600" "$(stat -c %a "$socket")"
    debug "$OUT/program" <<'EOF'
break half
continue
EOF
    expect "abandoned socket" <<'EOF'
Breakpoint 1, half (value=1) at *
EOF
    finish "abandoned socket" 3
    if [ -e "$socket" ]; then fail "the socket is removed"; else pass; fi
}

compile
test_steps
test_recursion
test_values
test_registers
test_watch
test_hardware_break
test_monitor
test_death fault SIGSEGV 139 '*the store that faults*'
test_death illegal SIGILL 132 '=> *unimp*'
test_abort
test_interrupt
test_rubbish
test_options
test_harts
test_schedule
test_step_through_wait
test_reset
test_idle
test_harts_log
test_usage
test_connections

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
