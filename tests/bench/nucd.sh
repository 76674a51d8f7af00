#!/bin/bash
# The evaluation of NUCD: nucd.sh CROFT DESCRIPTIONS OUT. Runs the experiments of the paper's figures 8, 9 and
# 10, prints their tables, and writes tables and pictures to OUT. JOBS=N runs N at a time.
set -uo pipefail

croft=$1 descriptions=$2 out=$3 status=0
plot=$(dirname "$0")/plot.sh
mkdir -p "$out"

experiment() {
    "$croft" experiment "$descriptions/$1.yaml" --out "$out/$1" ${JOBS:+--jobs "$JOBS"} || status=1
    echo
}

experiment figure8
experiment stride
experiment driver
experiment figure10

"$plot" bars "$out/figure8/results.csv" speedup offload "$out/figure8.svg" "Speed-up over the host alone (figure 8)"
"$plot" bars "$out/figure8/results.csv" share offload "$out/figure9.svg" "Share of time spent offloading (figure 9)"
"$plot" bars "$out/driver/results.csv" share offload "$out/figure9-sweep.svg" "Share of time, by operating-system clocks a task"
"$plot" bars "$out/driver/results.csv" gain offload "$out/gain.svg" "Gain of NUCD, by the driver's operating-system clocks a task"
"$plot" lines "$out/figure10/results.csv" scaling offload "$out/figure10.svg" "Speed-up over one accelerator (figure 10)"
echo "tables and pictures: $out"
exit "$status"
