#!/bin/bash
# Kills croft experiment after random numbers of runs, by signals in turn, and starts it again: experiment_kill.sh CROFT [KILLS]. The
# final tables have to equal those of an experiment that nobody killed, and no process may be left. SEED chooses the moments.
# Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
kills=${2:-8}
RANDOM=${SEED:-1}
scratch
cd "$work" || exit 1

evidence() {
    tail -n 5 messages
}

cat >loop.c <<'C'
#include <croft/roi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile long rounds = atol(argv[1]);
    croft_roi_begin("loop");
    while (rounds > 0)
        rounds--;
    croft_roi_end("loop");
    printf("%d %s\n", argc, argv[1]);
    return atol(argv[1]) % 7 == 6;
}
C
{
    cat <<'Y'
title: killed
machine: functional
programs:
  loop: {source: loop.c, flags: -O2, arguments: $rounds}
  other: {source: loop.c, flags: -O1, arguments: $rounds, region: loop}
columns:
  instructions: {statistic: hart.0.instructions, mean: arithmetic}
  relative: {ratio: instructions, to: {rounds: 0}}
tables: [{column: relative, across: size}]
axes:
  size:
    small: {memory.size: 128 MiB}
    large: {memory.size: 256 MiB}
  rounds:
Y
    for i in {0..39}; do echo "    $i: {\$rounds: $((i * 10000))}"; done
} >killed.yaml

# Prints the processes that carry our mark in their environment.
marked() {
    grep -lazx "CROFT_TEST_MARK=$work" /proc/[0-9]*/environ 2>/dev/null
}

# Succeeds if all marked processes end within 10 s.
gone() {
    local i
    for ((i = 0; i < 100; i++)); do
        if [ -z "$(marked)" ]; then return 0; fi
        sleep 0.1
    done
    return 1
}

"$croft" experiment killed.yaml --out whole >whole.txt 2>messages
[ $? -eq 1 ] && grep -q '160 runs, 20 failed' messages
judge $? "the experiment that nobody kills"

signals=(KILL TERM INT HUP QUIT)
ended=0 orphans=0
for ((i = 0; i < kills; i++)); do
    signal=${signals[i % 5]}
    : >messages
    CROFT_TEST_MARK=$work setsid "$croft" experiment killed.yaml --out again --jobs 3 >again.txt 2>messages &
    pid=$!
    runs=$((RANDOM % 24))
    while kill -0 "$pid" 2>/dev/null && [ "$(grep -c ' of 160: ' messages)" -lt $runs ]; do sleep 0.002; done
    sleep "0.00$((RANDOM % 10))"
    kill -s "$signal" "$pid" 2>/dev/null && ended=$((ended + 1))
    wait "$pid" 2>/dev/null
    status=$?
    gone || orphans=$((orphans + 1))
    # A signal that arrives after the last run changes nothing.
    if [ "$signal" != KILL ] && [ "$status" -gt 1 ] && [ "$status" -ne $((128 + $(kill -l "$signal"))) ]; then
        fail "SIG$signal: the status is $status" "$(tail -n 3 messages)"
    fi
    # One that arrives before croft looks at signals leaves no word.
    if [ "$signal" = TERM ] && [ "$status" -gt 128 ] && [ -s messages ] && ! grep -q 'runs left: the same command goes on' messages; then
        fail "SIG$signal: no message" "$(tail -n 3 messages)"
    fi
    # Each round keeps what earlier ones have finished; begin anew when all is finished.
    if [ "$status" -le 1 ]; then
        cmp -s whole/results.csv again/results.csv || fail "round $i: the tables differ"
        rm -rf again
    fi
done
[ "$ended" -gt $((kills / 4)) ]
judge $? "$ended of $kills signals found the experiment running"
[ "$orphans" -eq 0 ]
judge $? "no process is left"
"$croft" experiment killed.yaml --out again >again.txt 2>messages
cmp whole/results.csv again/results.csv && cmp whole/tables.txt again/tables.txt && cmp whole.txt again.txt
judge $? "the final tables are equal to the byte"
[ -z "$(find again -name '.run*' -o -name '*.part')" ]
judge $? "no file is left"

# Children that never end by themselves: runs, and a compiler that waits for a pipe.
mkfifo never.h
echo 'int main(void) { for (;;) {} }' >endless.c
echo '#include "never.h"' >waits.c
for program in endless waits; do
    printf 'title: %s\nmachine: functional\nprograms: {it: {source: %s.c, region: total}}\n' $program $program
    printf 'columns: {instructions: {statistic: hart.0.instructions}}\n'
    printf 'axes: {size: {small: {memory.size: 128 MiB}, large: {memory.size: 256 MiB}}}\n'
done >endless.yaml
sed -n 1,5p endless.yaml >runs.yaml
sed -n 6,10p endless.yaml >compiles.yaml
for description in runs compiles; do
    for signal in KILL TERM; do
        rm -rf $description.results
        CROFT_TEST_MARK=$work setsid "$croft" experiment $description.yaml --jobs 2 >again.txt 2>messages &
        pid=$!
        while [ $description = runs ] && [ ! -e runs.results/programs/it ]; do sleep 0.02; done
        while [ "$(marked | wc -l)" -lt 3 ]; do sleep 0.02; done
        kill -s $signal "$pid"
        wait "$pid" 2>/dev/null
        gone
        judge $? "$description, SIG$signal: no process is left"
        for process in $(marked); do kill -s KILL "${process//[^0-9]/}"; done
    done
done

# A signal tabulates what is there.
rm -rf again messages
"$croft" experiment killed.yaml --out again --jobs 1 >again.txt 2>messages &
pid=$!
while ! grep -q " 3 of 160" messages 2>/dev/null; do sleep 0.02; done
kill -s TERM "$pid"
wait "$pid"
[ $? -eq 143 ] && [ "$(wc -l <again/results.csv)" -eq 161 ] && grep -Eq '^loop,small,0,[0-9]+,' again/results.csv &&
    grep -q '^other,large,39,,,$' again/results.csv && grep -q ' left' again/tables.txt
judge $? "what had finished is tabulated"

conclude
