#!/bin/bash
# What the compiler costs where it gains little: jit.sh CROFT MEASURE DIR PROGRAM... runs each program ROUNDS times (default 5) with
# --jit=off and --jit=on in turn, compares outputs, and prints the medians of user + system seconds and their ratio.
set -euo pipefail
here=$(dirname "$0")
# shellcheck source=tests/bench/lib.sh
source "$here/lib.sh"

arguments "CROFT MEASURE DIR PROGRAM..." $#
croft=$1 measure=$2 out=$3
shift 3
rounds=${ROUNDS:-5}
check_rounds
begin_runs runs.csv

# median NAME WAY
median() {
    awk -F, -v name="$1" -v way="$2" '$1 == name && $3 == way { print $5 + $6 }' "$runs" | sort -n |
        awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}

printf '%-12s %14s %14s %8s\n' program "interpreted, s" "compiled, s" ratio
for program; do
    name=${program##*/}
    for ((round = 1; round <= rounds; round++)); do
        progress "$name" "$round"
        for way in off on; do
            measured "$name" "$round" "$way" "$croft" run --jit="$way" "$program" || failure "$name"
        done
        cmp -s "$out/$name.off.out" "$out/$name.on.out" || failure "$name prints something else compiled"
    done
    progress
    off=$(median "$name" off) on=$(median "$name" on)
    awk -v name="$name" -v off="$off" -v on="$on" \
        'BEGIN { printf "%-12s %14.3f %14.3f %8.2f\n", name, off, on, on / off }'
done
conclude
