#!/bin/bash
# Speed of functional SIMT: simt.sh CROFT MEASURE OUTDIR RATE. Thread instructions over user + system seconds
# of the whole run on one multiprocessor, best of ROUNDS. Each kernel's result is first compared with
# qemu-riscv64's. A missed bar is only reported, because it depends on the host.
set -euo pipefail
here=$(dirname "$0")
# shellcheck source=tests/bench/lib.sh
source "$here/lib.sh"

arguments "CROFT MEASURE OUTDIR RATE" $#
croft=$1 measure=$2 out=$3 rate=$4
rounds=${ROUNDS:-3}
check_rounds
need qemu-riscv64 qemu-user
mkdir -p "$out"

# threads FILE: prints the number of thread instructions.
threads() {
    awk '/"total"/ { total = 1 } total && /"simt.thread_instructions"/ { gsub(/[^0-9]/, "", $2); print $2; exit }' "$1"
}

# kernel NAME ROUNDS FEW BAR
kernel() {
    local name=$1 best="" count line round
    "$croft" run --set simt.count=1 "$rate" "$name" "$3" >"$out/$name.croft"
    qemu-riscv64 "$rate" "$name" "$3" >"$out/$name.qemu"
    cmp -s "$out/$name.croft" "$out/$name.qemu" || {
        failure "$name prints something else than on qemu"
    }
    for ((round = 1; round <= rounds; round++)); do
        line=$("$measure" "$out/$name.out" "$croft" run --set simt.count=1 --stats "$out/$name.json" "$rate" "$name" "$2")
        read -r _ user system _ status <<<"$line"
        [ "$status" -eq 0 ] || failure
        best=$(awk -v a="$user" -v b="$system" -v best="$best" 'BEGIN { t = a + b; print (best == "" || t < best + 0) ? t : best }')
    done
    count=$(threads "$out/$name.json")
    awk -v name="$name" -v count="$count" -v seconds="$best" -v bar="$4" 'BEGIN {
        rate = count / seconds / 1e6
        printf "%-10s %8.1f M instructions of threads in %6.3f s: %7.0f M/s, bar %d %s\n", name, count / 1e6, seconds,
            rate, bar, (rate >= bar ? "reached" : "MISSED")
    }'
}

kernel integer 20000 50 400
kernel real 20000 50 200
kernel product 40 1 200
kernel search 60 1 50
conclude
