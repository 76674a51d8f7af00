#!/bin/bash
# Random regions, compiled and beside steps: soak.sh SOAK INSTRUCTIONS SEED. Prints what was executed, and "N passed, N failed". A run
# that compares each run of a region, too, executes a fiftieth as much.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
soak=$1 count=$2 seed=$3
if [[ ! $count =~ ^[1-9][0-9]*$ ]]; then
    echo "soak: the number of instructions must be a whole number, not '$count'" >&2
    exit 2
fi

# executes ARGUMENTS...: the program finds no difference.
executes() {
    local text status=0
    text=$("$soak" "$@" 2>&1) || status=$?
    printf '%s\n' "$text" >&2
    check "$*: $(tail -n 1 <<<"$text")" [ "$status" -eq 0 ]
}
executes "$count" "$seed"
executes "$((count / 50))" "$((seed + 1000))" check
conclude
