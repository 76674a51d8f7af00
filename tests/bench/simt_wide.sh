#!/bin/bash
# Speed of 64 timed multiprocessors on 64 memory channels: simt_wide.sh CROFT MEASURE OUTDIR WIDE. Thread
# instructions over user + system seconds of the whole run, best of ROUNDS (default 1). Each kernel's result is
# compared with qemu-riscv64's. A missed bar is only reported, because it depends on the host.
set -euo pipefail
here=$(dirname "$0")
# shellcheck source=tests/bench/lib.sh
source "$here/lib.sh"

arguments "CROFT MEASURE OUTDIR WIDE" $#
croft=$1 measure=$2 out=$3 wide=$4
rounds=${ROUNDS:-1}
check_rounds
need qemu-riscv64 qemu-user
mkdir -p "$out"

# kernel NAME BAR
kernel() {
    local name=$1 best="" line round
    qemu-riscv64 "$wide" "$name" >"$out/$name.qemu"
    for ((round = 1; round <= rounds; round++)); do
        line=$("$measure" "$out/$name.croft" "$croft" run -m gpu --set simt.count=64 --set dram.channels=64 \
            --stats "$out/$name.json" "$wide" "$name")
        read -r _ user system _ status <<<"$line"
        [ "$status" -eq 0 ] || failure "$name ended with status $status"
        best=$(awk -v a="$user" -v b="$system" -v best="$best" 'BEGIN { t = a + b; print (best == "" || t < best + 0) ? t : best }')
    done
    cmp -s "$out/$name.croft" "$out/$name.qemu" || failure "$name prints something else than on qemu"
    awk -v name="$name" -v seconds="$best" -v bar="$2" '
        /"total"/ { total = 1 }
        total && /"simt.thread_instructions"/ { gsub(/[^0-9]/, "", $2); count = $2; exit }
        END {
            rate = count / seconds / 1e6
            printf "%-10s %8.1f M instructions of threads in %6.3f s: %7.1f M/s, bar %d %s\n", name, count / 1e6, seconds,
                rate, bar, (rate >= bar ? "reached" : "MISSED")
        }' "$out/$name.json"
}

kernel stencil 5
kernel hash 5
kernel read 5
kernel product 20
conclude
