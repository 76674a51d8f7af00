#!/bin/bash
# Speed of timed machines: timed.sh CROFT MEASURE OUTDIR MIX IDLE-1 IDLE-3601 EVENT-BENCH DRAM-BENCH
# - MIX with MIX_ROUNDS rounds of work (default 1500) on ddr3 (in-order core with caches), nucd (out-of-order host) and
#   qemu-riscv64, ROUNDS times, alternating: instructions over user + system seconds, and the ratio to qemu;
# - firmware that sleeps for 1 s and for 3601 s: cost of an idle simulated second;
# - the same with 1 and with 17 cores: peak memory per simulated core;
# - the event queue and the DRAM engine alone.
# OUTDIR receives timed.csv (all runs) and timed-summary.csv. The status is 1 if a run fails or an output
# differs. A missed bar is only reported, because it depends on the host.
set -euo pipefail
here=$(dirname "$0")
# shellcheck source=tests/bench/lib.sh
source "$here/lib.sh"

arguments "CROFT MEASURE OUTDIR MIX IDLE-1 IDLE-3601 EVENT-BENCH DRAM-BENCH" $#
croft=$1 measure=$2 out=$3 mix=$4 idle_short=$5 idle_long=$6 event_bench=$7 dram_bench=$8
rounds=${ROUNDS:-3}
mix_rounds=${MIX_ROUNDS:-1500}
starts=10
check_rounds
need qemu-riscv64 qemu-user
summary=$out/timed-summary.csv
parts=$out/timed-parts.txt
begin_runs timed.csv

facts qemu-riscv64 "user + system seconds"

for ((round = 1; round <= rounds; round++)); do
    progress mix "$round"
    measured mix "$round" qemu qemu-riscv64 "$mix" "$mix_rounds" || failure
    for machine in ddr3 nucd; do
        name=mix-$machine
        measured "$name" "$round" croft "$croft" run -m "$machine" --stats "$out/$name.json" "$mix" "$mix_rounds" || failure
        cmp -s "$out/$name.croft.out" "$out/mix.qemu.out" || failure "mix prints something else on $machine than on qemu"
    done
done

# idle NAME ROUND PROGRAM MACHINE CORES
idle() {
    progress idle "$2"
    measured "$1" "$2" croft "$croft" run -m "$4" --set host.count="$5" --stats "$out/$1.json" "$3" </dev/null || failure
}

for ((round = 1; round <= starts; round++)); do
    idle idle-1 "$round" "$idle_short" ddr3 1
    idle idle-3601 "$round" "$idle_long" ddr3 1
done
for machine in ddr3 nucd; do
    for cores in 1 17; do
        idle "cores-$machine-$cores" 1 "$idle_short" "$machine" "$cores"
    done
done

progress "event queue and DRAM engine" 1
{
    "$event_bench"
    "$dram_bench"
} >"$parts" || failure "a benchmark of a part fails"
progress

awk -f "$here/lib.awk" -f "$here/timed.awk" -v summary="$summary" -v parts="$parts" "$runs"
echo
echo "written: $runs, $summary, $parts"
conclude
