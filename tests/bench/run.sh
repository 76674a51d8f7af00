#!/bin/bash
# Speed of croft, interpreting and compiling (--jit=on), compared with qemu-riscv64, and interpreting the same program compiled for
# Linux, OUTDIR/linux/PROGRAM: run.sh CROFT MEASURE OUTDIR TRIVIAL
# PROGRAM... Runs every program on all, alternating, ROUNDS times (default 3), and compares their outputs. A program's speed is its retired
# instructions (croft --stats) over the median of user + system seconds, which other work on the host disturbs
# little. Then measures the start-up of TRIVIAL on croft: median wall time and peak memory of 20 runs. OUTDIR
# receives runs.csv (all runs) and summary.csv (the table). The status is 1 if an output differs or a run
# fails. A missed bar is only reported, because it depends on the host.
set -euo pipefail
here=$(dirname "$0")
# shellcheck source=tests/bench/lib.sh
source "$here/lib.sh"

arguments "CROFT MEASURE OUTDIR TRIVIAL PROGRAM..." $#
croft=$1 measure=$2 out=$3 trivial=$4
shift 4
rounds=${ROUNDS:-3}
starts=20
check_rounds
need qemu-riscv64 qemu-user
summary=$out/summary.csv
begin_runs runs.csv

facts qemu-riscv64 "user + system seconds"

for program in "$@"; do
    name=${program##*/}
    for ((round = 1; round <= rounds; round++)); do
        progress "$name" "$round"
        if ! measured "$name" "$round" croft "$croft" run --jit=off --stats "$out/$name.json" "$program" ||
            ! measured "$name" "$round" compiled "$croft" run --jit=on --stats "$out/$name.compiled.json" "$program" ||
            ! measured "$name" "$round" linux "$croft" run --jit=off --stats "$out/$name.linux.json" "$out/linux/$name" ||
            ! measured "$name" "$round" qemu qemu-riscv64 "$program"; then
            failure "$name is left out"
            break
        fi
        for way in croft compiled linux; do
            if ! cmp -s "$out/$name.$way.out" "$out/$name.qemu.out"; then
                failure "$name prints something else on $way than on qemu:"
                diff "$out/$name.$way.out" "$out/$name.qemu.out" >&2 || true
                break 2
            fi
        done
    done
done
for ((round = 1; round <= starts; round++)); do
    measured start-up "$round" croft "$croft" run --stats "$out/start-up.json" "$trivial" || failure "start-up"
done
progress

awk -f "$here/lib.awk" -f "$here/report.awk" -v summary="$summary" "$runs"
echo
echo "written: $runs, $summary"
conclude
