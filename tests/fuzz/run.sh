#!/bin/bash
# run.sh BUILD NAME...: runs the fuzzers BUILD/bin/fuzz-NAME for FUZZ_TIME seconds each, from the repository's
# root. A failing input is kept in BUILD/failures. The last line is `N passed, N failed`.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

build=$1
shift

fuzz() {
    local name=$1 found=$build/corpus/$1
    mkdir -p "$found" "$build/failures"
    "$build/bin/fuzz-$name" -max_total_time="${FUZZ_TIME:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$build/failures/$name-" "$found" "tests/fuzz/corpus/$name" >"$found.log" 2>&1
}

finish() {
    local name=$1
    if wait "$2"; then
        echo "fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/corpus/$name.log") inputs"
        pass
    else
        fail "fuzz $name"
        tail -n 40 "$build/corpus/$name.log"
    fi
}

# Runs as many at a time as there are cores.
names=("$@")
cores=$(nproc)
for ((first = 0; first < ${#names[@]}; first += cores)); do
    group=("${names[@]:first:cores}")
    started=()
    for name in "${group[@]}"; do
        fuzz "$name" &
        started+=($!)
    done
    for i in "${!group[@]}"; do
        finish "${group[i]}" "${started[i]}"
    done
done
conclude
