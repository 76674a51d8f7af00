#!/bin/bash
# soak.sh TEST: the test of AxRAM's chips with 10,000 random networks. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

if [ $# -ne 1 ]; then
    echo "usage: tests/axram/soak.sh TEST" >&2
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

check "10,000 networks" networks "$1"
conclude
