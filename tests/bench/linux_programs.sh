#!/bin/bash
# Programs of Linux beside the same of newlib, compiled and interpreted: linux_programs.sh CROFT MEASURE DIR PROGRAM... runs each PROGRAM and
# DIR/linux/PROGRAM in turn, ROUNDS times (default 5), compares outputs, and prints medians of user + system seconds. `time` is newlib's over
# Linux's; `speed` is that of instructions a second, since C libraries and compilers differ in how many instructions they take.
# DIR receives linux_programs.csv, all runs. The status is 1 if a run fails or prints something else. Missed bars are only reported.
set -euo pipefail
here=$(dirname "$0")
# shellcheck source=tests/bench/lib.sh
source "$here/lib.sh"

arguments "CROFT MEASURE DIR PROGRAM..." $#
croft=$1 measure=$2 out=$3
shift 3
rounds=${ROUNDS:-5}
check_rounds
begin_runs linux_programs.csv

# round NAME ROUND PROGRAM: one run of each kind.
round() {
    local jit kind program
    for jit in default off; do
        for kind in newlib linux; do
            program=$3
            [ $kind = newlib ] || program=$out/linux/$1
            measured "$1" "$2" "$kind.$jit" "$croft" run ${jit_option[$jit]:+"${jit_option[$jit]}"} --stats "$out/$1.$kind.json" "$program" || return
            sed -i "\$s/\$/$(instructions_of "$out/$1.$kind.json")/" "$runs"
            cmp -s "$out/$1.newlib.default.out" "$out/$1.$kind.$jit.out" || {
                echo "bench: $1 prints something else as $kind.$jit" >&2
                return 1
            }
        done
    done
}

declare -A jit_option=([default]="" [off]=--jit=off)
for program; do
    name=${program##*/}
    for ((n = 1; n <= rounds; n++)); do
        progress "$name" "$n"
        round "$name" "$n" "$program" || {
            failure "$name is left out"
            break
        }
    done
done
progress
awk -f "$here/lib.awk" -f "$here/linux_programs.awk" -v rounds="$rounds" -v summary=/dev/null "$runs"
conclude
