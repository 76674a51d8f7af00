#!/bin/bash
# soak.sh TEST...: tests of AxRAM's chips with 10,000 random networks. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

if [ $# -eq 0 ]; then
    echo "usage: tests/axram/soak.sh TEST..." >&2
    exit 2
fi
output=$(mktemp)
trap 'rm -f "$output"' EXIT

evidence() {
    tail -n 5 "$output"
}

networks() {
    AXRAM_NETWORKS=10000 "$1" >"$output" 2>&1
}

for test in "$@"; do
    check "10,000 networks, $(basename "$test")" networks "$test"
done
conclude
