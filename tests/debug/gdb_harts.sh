# Sessions with machine-mode code on several harts. gdb.sh sources this file.
# shellcheck shell=bash disable=SC2034,SC2153,SC2154 # variables are shared between the parts

# start_harts OPTIONS...: starts the machine-mode program on two harts.
start_harts() {
    start --env bare --set harts=2 "$@" "$OUT/harts"
}

test_harts() {
    start_harts
    debug "$OUT/harts" <<'EOF'
info threads
print/x $pc
x/2xw 0x1000
x/xg 0x2004000
x/xw 0xc200004
x/xb 0x10000000
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
0x1000:*0x00000297*0xf1402573
0x2004000:*0xffffffffffffffff
*Cannot access memory at address 0xc200004
0x10000000:*0x00
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

# With scheduler-locking only one hart moves; without it, the others run while one steps. Turns have the
# minimum length.
test_schedule() {
    start_harts --set quantum=100
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

# Stepping through a wait loop ends, because the other hart answers meanwhile.
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

# All harts wait for an interrupt that never comes; gdb can still interrupt them.
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

# The debugger does not change results: with breakpoints and steps that let the other harts run, the log stays
# the same.
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

# gdb knows which memory it cannot write, and sees registers of devices.
test_memory_map() {
    start -m virt "$OUT/timer"
    debug "$OUT/timer" <<'END'
info mem
break *0x1014
continue
print/x $pc
x/8xb 0x10000000
x/2xw 0x100000
x/2xw 0x2000000
x/2i 0x1000
set variable *(int *)0x1000 = 0
kill
END
    expect "memory map" <<'END'
*0x0000000000001000*0x0000000000010000*ro*
*0x0000000000100000*0x0000000000101000*rw*
*0x0000000010000000*0x0000000010000100*rw*
*0x0000000080000000*0x*rw*
Breakpoint 1 at 0x1014
Note: automatically using hardware breakpoints for read-only addresses.
Breakpoint 1, 0x0000000000001014 in*
$1 = 0x1014
0x10000000:	0x00	0x00	0x01	0x00	0x00	0x60	0xb0	0x00
0x100000:	0x00000000	0x00000000
0x2000000:	0x00000000	*
*0x1000:	auipc	t0,0x0
Cannot access memory at address 0x1000
END
    kill "$croft" 2>/dev/null || true
    wait "$croft" || true
}

# Backtraces go from a handler through the trap to the interrupted code, and its frames are as they were.
test_trap_backtrace() {
    "$CROFT" cc --bare -g -O2 "$here/../../examples/firmware/timer.c" -o "$OUT/timer"
    start -m virt "$OUT/timer"
    debug "$OUT/timer" <<'END'
break on_timer
continue
backtrace
kill
END
    expect "backtrace through a trap" <<'END'
#0  on_timer *
#1  <signal handler called>
#[2-9]* in main () at *timer.c:*
END
    kill "$croft" 2>/dev/null || true
    wait "$croft" || true
}
