#!/bin/bash
# Runs each kernel, divided into several numbers of tasks (per call), under tests/nucd/offloads: offloads.sh
# OFFLOADS KERNEL... Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

offloads=$1
shift
for kernel in "$@"; do
    for tasks in 1 4 8 16 32 64; do
        calls=1
        [ "${kernel##*/}" != stride ] || calls=8
        if text=$("$offloads" "$kernel" "$tasks") && grep -q "^$((calls * tasks)) tasks," <<<"$text"; then
            pass
        else
            fail "${kernel##*/}, $tasks tasks"
        fi
        printf '%-10s %2d tasks: %s\n' "${kernel##*/}" "$tasks" "$(tail -n 1 <<<"$text")"
        grep '^pc ' <<<"$text"
    done
done
conclude
