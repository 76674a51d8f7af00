#!/bin/bash
# What it costs that wrt_res.axram drops the results' lines from the caches: axram_invalidation.sh CROFT DIR. COUNT elements (65536)
# and EPOCHS of training (20) for each of APPS, whose functions run in the chips of machine axram, with the networks of Table 1. Prints,
# for each, the clocks of CK from results to the last drop, and the time with and without it.
set -euo pipefail

croft=$(realpath "$1")
mkdir -p "$2"
dir=$(realpath "$2")
source=$(realpath "$(dirname "$0")/../../examples/axram")
count=${COUNT:-65536} epochs=${EPOCHS:-20} apps=${APPS:-blackscholes inversek2j jmeint newton_raph}
declare -A topology=([blackscholes]=6-8-1 [inversek2j]=2-16-3 [jmeint]=18-8-2 [newton_raph]=5-2-1)
cd "$dir"

# run APP VALUE: the program with axram.invalidate=VALUE; prints "CLOCKS MESSAGES TIME", TIME in ns.
run() {
    "$croft" run -m axram --set axram.invalidate="$2" --stats stats.json "$1" "$count" >output
    grep -q '^result    correct$' output
    jq -r --arg app "$1" '.regions[$app] | [.["axram.drop_clocks"] / .["axram.invocations"],
        .["axram.signals"] / .["axram.invocations"], .["sim.time"] / 1e6] | map(tostring) | join(" ")' stats.json
}

printf '%-14s %10s %10s %12s %12s %9s\n' application clocks messages 'ns with' 'ns without' share
for app in $apps; do
    "$croft" neural --topology "${topology[$app]}" --epochs "$epochs" --folds 2 -o "$app.network.h" "$source/$app.c" train 512 \
        >"$app.training"
    "$croft" cc -O2 -DCROFT_APPROX_BY=CROFT_BY_AXRAM -include "$app.network.h" "$source/$app.c" -lm -o "$app"
    read -r clocks messages with <<<"$(run "$app" true)"
    read -r _ _ without <<<"$(run "$app" false)"
    awk -v a="$app" -v c="$clocks" -v m="$messages" -v w="$with" -v o="$without" \
        'BEGIN { printf "%-14s %10.1f %10.1f %12.0f %12.0f %8.1f%%\n", a, c, m, w, o, (w / o - 1) * 100 }'
done | tee table
awk '{ clocks += $2; share += $6 } END { printf "%-14s %10.1f %46.1f%%   (the paper: 10 clocks, 1.9%%)\n", "mean", clocks / NR, share / NR }' table
