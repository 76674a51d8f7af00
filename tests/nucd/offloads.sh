#!/bin/bash
# Runs each kernel, cut into several numbers of tasks (of each call), under tests/nucd/offloads: offloads.sh OFFLOADS KERNEL...
# Prints "N passed, N failed".
set -uo pipefail

offloads=$1 passed=0 failed=0
shift
for kernel in "$@"; do
    for tasks in 1 4 8 16 32 64; do
        calls=1
        [ "${kernel##*/}" != stride ] || calls=8
        if text=$("$offloads" "$kernel" "$tasks") && grep -q "^$((calls * tasks)) tasks," <<<"$text"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
        fi
        printf '%-10s %2d tasks: %s\n' "${kernel##*/}" "$tasks" "$(tail -n 1 <<<"$text")"
        grep '^pc ' <<<"$text"
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
