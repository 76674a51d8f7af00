#!/bin/bash
# Chips that work together on an invocation: axram_together.sh CROFT DIR. For each of four networks, one warp and 120 warps, with 1 to 12
# of machine axram's chips together (axram.together): clocks from an invocation's instruction to its answer (mean), and the time of
# the kernel.
set -euo pipefail

croft=$(realpath "$1") source=$(realpath "$(dirname "$0")/axram_together.c")
mkdir -p "$2"
cd "$2"
"$croft" cc -O2 "$source" -o program
printf '%-12s %5s' network warps
for together in 1 2 3 4 6 12; do printf ' %17s' "$together together"; done
printf '\n%18s' ''
for together in 1 2 3 4 6 12; do printf ' %8s %8s' clocks us; done
echo
for network in "18 8 2" "64 8 1" "32 32 32" "64 32 32"; do
    for threads in 32 3840; do
        printf '%-12s %5d' "${network// /-}" $((threads / 32))
        for together in 1 2 3 4 6 12; do
            # shellcheck disable=SC2086 # three numbers
            "$croft" run -m axram --set axram.together=$together --stats stats.json program $network $threads
            # shellcheck disable=SC2046,SC2183 # two numbers
            printf ' %8.0f %8.1f' $(jq -r '.total | "\(.["axram.invocation_clocks.mean"]) \(.["simt.busy"] / 1e9)"' stats.json)
        done
        echo
    done
done
