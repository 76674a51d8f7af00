#!/bin/bash
# Runs a second of croft experiment: experiment.sh CROFT MEASURE DIR. RUNS=1000 different runs of a program that takes MS=10
# milliseconds of a processor, with their results in SQLite. CPU time is that of croft and of all runs.
set -euo pipefail

croft=$(realpath "$1") measure=$(realpath "$2") dir=$3
runs=${RUNS:-1000} ms=${MS:-10}
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
cat >loop.c <<'C'
#include <croft/roi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile long rounds = argc > 1 ? atol(argv[1]) : 0;
    croft_roi_begin("loop");
    while (rounds > 0)
        rounds--;
    croft_roi_end("loop");
    return 0;
}
C
"$croft" cc -O2 loop.c -o loop

# cpu COMMAND...: prints the user and system seconds that it takes, and its wall-clock time.
cpu() {
    "$measure" output "$@" | awk '{ print $2 + $3, $1 }'
}

# What a round takes: the least of three runs, less the start of croft.
least() {
    for _ in 1 2 3; do cpu "$croft" run -m functional loop "$1"; done | sort -g | head -n 1 | cut -d' ' -f1
}
rounds=$(awk -v ms="$ms" -v long="$(least 20000000)" -v none="$(least 0)" 'BEGIN { printf "%.0f", 20000000 * ms / 1000 / (long - none) }')
cat >plan.yaml <<Y
title: short runs
machine: functional
programs: {loop: {file: loop, arguments: \$rounds}}
axes: {rounds: {set: \$rounds, from: $rounds, to: $((rounds + runs - 1)), step: 1}}
columns: {instructions: {statistic: hart.0.instructions}}
Y
read -r seconds wall < <(cpu "$croft" experiment plan.yaml --jobs "$(nproc)" 2>messages)
[ "$(sqlite3 plan.results/results.db 'SELECT count(*) FROM run WHERE failure IS NULL')" -eq "$runs" ]
awk -v runs="$runs" -v ms="$ms" -v seconds="$seconds" -v wall="$wall" -v cores="$(nproc)" 'BEGIN {
    each = seconds / runs * 1000
    printf "%d runs of %s ms on %d processors: %.1f runs/s\n", runs, ms, cores, runs / wall
    printf "CPU time of a run: %.2f ms, of which croft %.2f ms; processors / CPU time: %.1f runs/s\n", each, each - ms, cores / each * 1000 }'
