# Sessions on machine undercroft, where five kinds of code are in one program. gdb.sh sources this file.
# shellcheck shell=bash disable=SC2034,SC2153,SC2154 # variables are shared between the parts

# compile_together: program `together`, with TOM's table of blocks, and `together.software` for qemu-riscv64.
compile_together() {
    local by
    for by in AXRAM NETWORK; do
        "$CROFT" cc -g -O1 -DCROFT_APPROX_BY=CROFT_BY_$by -include "$here/../axram/approx_networks.h" \
            "$here/gdb_together.c" -lm -o "$OUT/together.$by"
    done
    "$CROFT" candidates -m undercroft -o "$OUT/together" "$OUT/together.AXRAM" >/dev/null
}

# One session stops in all of them, and the program ends as without gdb.
test_together() {
    local text breaks=""
    for text in 'on the host' 'in the task' 'in the stash' 'in the block'; do
        breaks+="break gdb_together.c:$(line_of gdb_together.c "$text")"$'\n'
    done
    start -m undercroft "$OUT/together"
    debug "$OUT/together" <<EOF
${breaks}break turn_run
continue
print by
delete 1
continue
print all.cell[7].value
delete 2
continue
print \$_thread > 65
stepi
delete 3
continue
print all.cell[5].other
delete 4
continue
backtrace
delete
continue
EOF
    expect "five kinds of code" <<'EOF'
Thread 1 hit Breakpoint 1, change (*
$1 = 2
Thread * hit Breakpoint 2, fill_body (*
$2 = 7
Thread * hit Breakpoint 3, mapped (*
$3 = 1
Thread * hit Breakpoint 4, looped (*
$4 = 3
Thread * hit Breakpoint 5, turn_run (*
#1 *called (*
*exited normally]
EOF
    finish "five kinds of code" 0
    same "five kinds of code: output" "$(qemu-riscv64 "$OUT/together.NETWORK")" "$(cat "$stdout")"
}

# fault_together KIND STATUS PATTERN...: code of this kind does wrong while a launch goes on. The message has these lines, in order,
# the statistics are whole, and nothing else goes wrong.
fault_together() {
    local kind=$1 wanted=$2 status=0
    shift 2
    timeout 600 "$CROFT" run -m undercroft --stats "$OUT/stats.json" "$OUT/together" "$kind" >"$OUT/stdout" 2>"$OUT/gdb" \
        </dev/null || status=$?
    same "fault, $kind: exit status" "$wanted" "$status"
    expect "fault, $kind" < <(printf '%s\n' "$@")
    same "fault, $kind: output" begin "$(cat "$OUT/stdout")"
    check "fault, $kind: statistics" grep -q '"sim.time": [1-9]' "$OUT/stats.json"
    check "fault, $kind: one fault" test "$(grep -cE ': (load|store) of|: illegal instruction' "$OUT/gdb")" = 1
}

# at TEXT: a pattern for a message's line that names the line of the program with this text.
at() {
    printf '*gdb_together.c:%s)*' "$(line_of gdb_together.c "$1")"
}

test_together_faults() {
    fault_together host 139 '*: load of 4 bytes from 0x10, *' "$(at 'on the host')"
    fault_together task 139 '*: store of 4 bytes to *' "$(at 'in the task')" '*on accelerator *'
    fault_together stash 139 '*of launch 2, lane *' "$(at 'the fault beside the stash')"
    fault_together block 139 '*of launch 3, lane *' "$(at 'in the block')" 'croft: stack.*.simt.0 was executing this block, *'
    fault_together call 132 '*: the region * is not in accelerator memory, *' '*of launch 4, lane *' '*called+*'
}
