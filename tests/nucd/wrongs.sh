#!/bin/bash
# Regions with forbidden operations: wrongs.sh CROFT. In all offload modes, each program dies as under
# qemu-riscv64 where that is guaranteed, with a message that names accelerator and place. Prints "N passed, N
# failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$1
here=$(dirname "$0")
scratch
modes=("" "--env kernel" "--env kernel --set nucd.mode=driver" "--set host.core=inorder"
    "--env kernel --set host.core=inorder")
"$croft" cc -O1 -g "$here/programs/wrongs.c" -o "$work/wrongs"

# try STATUS MESSAGE OPTIONS WHAT: runs the program with WHAT on machine nucd; checks the status and MESSAGE
# on standard error.
try() {
    local status=0
    # shellcheck disable=SC2086 # several words
    timeout 600 "$croft" run -m nucd $3 "$work/wrongs" $4 >"$work/out" 2>"$work/err" || status=$?
    if [ "$status" -eq "$1" ] && grep -qF -- "$2" "$work/err" && head -n 1 "$work/out" | grep -qx before; then
        pass
    else
        fail "'$4' with '$3': status $status, expected $1: $2" "$(cat "$work/err")"
    fi
}

# as_qemu OPTIONS WHAT: output and status equal qemu's, and croft prints no message.
as_qemu() {
    local status=0
    # shellcheck disable=SC2086 # several words
    oracle "$work/wanted" "$work/wrongs" $2
    # shellcheck disable=SC2086 # several words
    timeout 600 "$croft" run -m nucd $1 "$work/wrongs" $2 >"$work/out" 2>"$work/err" || status=$?
    if [ "$status" -eq "$wanted" ] && cmp -s "$work/wanted" "$work/out" && ! [ -s "$work/err" ]; then
        pass
    else
        fail "'$2' with '$1': status $status, of qemu $wanted" "$(cat "$work/err")"
    fi
}

# The registers beneath the accelerator's name are those of the faulting instruction: one holds the address of the access, sp is
# in the accelerator's stack, at the end of memory.
registers() {
    awk '/: (store|misaligned)/ { for (i = 1; i < NF; i++) if ($i == "to") { address = $(i + 1); sub(/,$/, "", address) } }
        / on accelerator / { on = 1; next }
        on { on = 0; if (/^  registers: /) seen = index($0 " ", "=" address " ") && / sp=0xbff[0-9a-f]+ / }
        END { exit !seen }' "$work/err"
}

for mode in "${modes[@]}"; do
    for what in text rodata amo; do
        status=139
        [ "$what" = amo ] && status=135
        try $status "on accelerator" "$mode" $what
        check "$what with '$mode': registers" registers
    done
    try 139 "which is read-only" "$mode" text
    try 139 "which is read-only" "$mode" rodata
    try 135 "misaligned atomic access of 8 bytes" "$mode" amo
    try 139 "stack overflow of accelerator" "$mode" deep
    try 139 "below its stack of 16 KiB; its size is nucd.memory / 128" "$mode" deep
    try 0 "warning: main" "$mode" malformed
    try 0 "wrongs.c:" "$mode" malformed
    for what in leave leave_far; do
        try 132 "the region was not left by its end, at the call depth at which it began, but at 0x" "$mode" $what
        try 132 "wrongs.c:" "$mode" $what
        try 132 "backtrace of the region:" "$mode" $what
    done
    try 132 "the region was not left by its end, at the call depth at which it began, but at 0x" "$mode" jump_out
    try 132 ", longjmp+0x" "$mode" jump_out
    as_qemu "$mode" jump
    as_qemu "$mode" fine
    as_qemu "$mode" clock
    as_qemu "$mode --set nucd.memory=16MiB" deep
    as_qemu "$mode --set nucd.memory=256KiB" fine
done
# The driver does not serve calls of regions; the message shows where the region has made it. In other modes they are
# served.
for mode in "${modes[@]}"; do
    case $mode in
    *driver*)
        try 159 "system call in a region" "$mode" call
        try 159 "backtrace of the region:" "$mode" call
        check "the region's frames, $mode" awk '/backtrace of the region:$/ { on = 1; next }
            on && /^  [^ ]/ { exit }
            on && / #0 0x[0-9a-f]+ _write\+0x/ { seen++ }
            on && / #[1-9] 0x[0-9a-f]+ (act_region|main)\+0x.*wrongs.c:/ { seen++ }
            END { exit seen != 3 }' "$work/err"
        ;;
    *) as_qemu "$mode" call ;;
    esac
done
"$croft" cc -O1 -g "$here/programs/calls.c" -o "$work/calls"
for what in "" exit; do
    # shellcheck disable=SC2086 # one word or none
    oracle "$work/wanted" "$work/calls" $what
    for mode in "" "--set nucd.mode=ideal" "--set accel.count=1" "--set accel.count=2" "--set host.core=inorder" \
        "--set accel.core=ooo" "--env kernel" "--env kernel --set accel.count=2" "--env kernel --set host.core=inorder"; do
        status=0
        # shellcheck disable=SC2086 # several words
        timeout 600 "$croft" run -m nucd $mode --stats "$work/stats.json" "$work/calls" $what >"$work/out" 2>"$work/err" || status=$?
        check "calls in regions, $mode $what" [ "$status" -eq "$wanted" ]
        check "calls in regions, $mode $what: output" cmp -s "$work/out" "$work/wanted"
        check "calls in regions, $mode $what: silent" [ ! -s "$work/err" ]
        check "calls in regions, $mode $what: on accelerators" grep -q '"nucd.resumed": [1-9]' "$work/stats.json"
    done
done

for what in text amo deep; do
    try_text="on accelerator"
    for mode in "${modes[@]}"; do
        status=139
        [ "$what" = amo ] && status=135
        try $status "$try_text" "$mode" $what
    done
done

# The limit counts the instructions of all harts and ends regions that hang, whether one or all.
for mode in "" "--set nucd.mode=ideal" "${modes[@]:1}"; do
    for what in hang hangs spin; do
        try 124 "stopped after 300000 instructions (--max-insns)" "$mode --max-insns 300000" $what
    done
done

# A log has all instructions that the host would execute if it ran the regions, on the host's core or an accelerator's, and
# no firmware.
instructions() {
    grep -v ': exception interrupt' "$1" | sed 's/^core *[0-9]*//' | sort
}
as_qemu "--set nucd.mode=none --log insn:$work/wanted.log" fine
for mode in "" "--set nucd.mode=ideal" "--set host.core=inorder" "--set accel.count=3"; do
    as_qemu "$mode --log insn:$work/log" fine
    check "log, $mode" cmp -s <(instructions "$work/log") <(instructions "$work/wanted.log")
    check "log, $mode: accelerators" grep -q '^core   [1-9]: 0x.*jalr' "$work/log"
done
as_qemu "--env kernel --log insn:$work/log" fine

conclude
