#!/bin/bash
# Compares croft and qemu-riscv64 on tests/hart/rounding.c, compiled: rounding.sh CROFT PROGRAM [CASES] On a
# difference, prints the first case that differs.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$1
program=$2
cases=${3:-100000}

# both ARGS...: runs the program on both; the outputs are stored beside the program.
both() {
    "$croft" run "$program" "$@" >"$program.croft" &
    local first=$!
    qemu-riscv64 "$program" "$@" >"$program.qemu"
    wait "$first"
}

# first_difference OP MODE: prints the first case that differs.
first_difference() {
    both "$1" "$2" 0 "$cases"
    diff "$program.croft" "$program.qemu" | head -n 4 | sed 's/^/    /' || true
}

both "$cases"
paste -d '\n' "$program.croft" "$program.qemu" >"$program.pairs"
differing=()
while read -r ours && read -r theirs; do
    if [ "$ours" = "$theirs" ]; then
        pass
    else
        fail "croft: $ours, qemu-riscv64: $theirs"
        differing+=("$ours")
    fi
done <"$program.pairs"
for line in "${differing[@]:0:3}"; do
    read -r op _ mode _ <<<"$line"
    first_difference "$op" "${mode%:}"
done
conclude && [ "$passed" -gt 0 ]
