#!/bin/bash
# Runs a second of croft experiment: experiment.sh CROFT MEASURE DIR. RUNS=1000 different runs of a program that takes MS=10
# milliseconds of a processor, and as many of one that takes none, with their results in SQLite. CPU time is that of croft and
# of all runs. Where the speed of processors wavers, the second figure says more: the first counts what the program took.
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

# mean ROUNDS: the seconds of a run, a mean over runs as short as those of the experiment, while all processors execute some.
mean() {
    local processor
    for ((processor = 0; processor < $(nproc); processor++)); do
        for _ in {1..25}; do cpu "$croft" run -m functional loop "$1"; done &
    done | awk '{ sum += $1 } END { print sum / NR }'
}
none=$(mean 0) rounds=1000000
for _ in 1 2 3; do
    rounds=$(awk -v ms="$ms" -v rounds="$rounds" -v long="$(mean "$rounds")" -v none="$none" 'BEGIN { printf "%.0f", rounds * ms / 1000 / (long - none) }')
done
# experiment FROM: runs the program with FROM rounds and more, and prints CPU and wall-clock time.
experiment() {
    cat >plan.yaml <<Y
title: short runs
machine: functional
programs: {loop: {file: loop, arguments: \$rounds}}
axes: {rounds: {set: \$rounds, from: $1, to: $(($1 + runs - 1)), step: 1}}
columns: {instructions: {statistic: hart.0.instructions}}
Y
    rm -rf plan.results
    times=$(cpu "$croft" experiment plan.yaml --jobs "$(nproc)" 2>messages)
    [ "$(sqlite3 plan.results/results.db 'SELECT count(*) FROM run WHERE failure IS NULL')" -eq "$runs" ]
    echo "$times" # last, as the caller goes on then
}
read -r seconds wall < <(experiment "$rounds")
read -r own _ < <(experiment 1)
awk -v runs="$runs" -v ms="$ms" -v seconds="$seconds" -v wall="$wall" -v own="$own" -v cores="$(nproc)" 'BEGIN {
    printf "%d runs of %s ms on %d processors: %.1f runs/s, %.2f ms of CPU time a run\n", runs, ms, cores, runs / wall,
           seconds / runs * 1000
    own = own / runs * 1000
    printf "croft takes %.2f ms of CPU time a run; %d processors / (%s ms + %.2f ms) = %.1f runs/s\n", own, cores, ms, own,
           cores / (ms + own) * 1000 }'
