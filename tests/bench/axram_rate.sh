#!/bin/bash
# How many invocations of AxRAM's chips croft simulates in a second of its processor time: axram_rate.sh CROFT DIR. 60 warps invoke a
# network 6 -> 8 -> 1 again and again (tests/axram/axram_program.c), ROUNDS times (7) for TIMES (400) and for one; prints the median and
# the best of the differences, and thread-instructions.
set -euo pipefail

croft=$(realpath "$1")
mkdir -p "$2"
source=$(realpath "$(dirname "$0")/../axram/axram_program.c")
cd "$2"
rounds=${ROUNDS:-7} times=${TIMES:-400}
"$croft" cc -std=c17 -O2 "$source" -o program

# run TIMES: prints the processor time in seconds.
run() {
    local TIMEFORMAT='%U %S'
    { time "$croft" run -m axram --stats "$1.json" program again 0 60 "$1" >/dev/null; } 2>&1 | awk '{ print $1 + $2 }'
}

count() {
    jq "[.total | to_entries[] | select(.key == \"$2\").value] | add" "$1.json"
}

for ((i = 0; i < rounds; i++)); do echo "$(run "$times") $(run 1)"; done >seconds
invocations=$(($(count "$times" axram.invocations) - $(count 1 axram.invocations)))
instructions=$(($(count "$times" simt.thread_instructions) - $(count 1 simt.thread_instructions)))
awk '{ print $1 - $2 }' seconds | sort -n | awk -v n=$invocations -v m=$instructions '
    { t[NR] = $1 }
    END { printf "%d invocations of SHA 6 -> 8 -> 1: median %.0f, best %.0f a second; thread-instructions: median %.1f, best %.1f million\n",
              n, n / t[int((NR + 1) / 2)], n / t[1], m / t[int((NR + 1) / 2)] / 1e6, m / t[1] / 1e6 }'
