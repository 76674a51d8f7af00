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
=> *sw*
#0 * main () at *die.c:7
$2 = 7
*exited normally]
EOF
        finish "$machine: a fault" 0
        start -m "$machine" --env bare "$OUT/die"
        debug "$OUT/die" <<'EOF'
continue
continue
EOF
        expect "$machine: the signal of a fault" <<'EOF'
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
