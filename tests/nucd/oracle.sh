#!/bin/bash
# nucd.ranges=oracle: oracle.sh CROFT OUT. Programs whose declared ranges say too much, or too little, give the results
# of qemu-riscv64, and only tasks that access the same lines wait for each other.
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1") out=$2
mkdir -p "$out"
out=$(realpath "$out")

# of STATISTIC: its total in the last run.
of() {
    grep -m 1 "\"nucd.$1\": [0-9]" "$out/stats.json" | tr -dc 0-9
}

# like_qemu NAME OPTIONS...: the program prints the same.
like_qemu() {
    qemu-riscv64 "$out/$1" >"$out/expected"
    "$croft" run -m nucd "${@:2}" --stats "$out/stats.json" "$out/$1" >"$out/found" 2>"$out/err"
    if cmp -s "$out/expected" "$out/found"; then pass; else fail "$*" "$(diff "$out/expected" "$out/found")" "$(cat "$out/err")"; fi
}

for far in 0 64; do
    "$croft" cc -O2 -DFAR=$far "$here/../../examples/nucd/assemble.c" -lm -o "$out/assemble-$far" || exit 1
done
like_qemu assemble-0
check "declared ranges: tasks wait" test "$(of blocked_cycles)" -gt 1000000
check "no oracle is asked" test "$(of foreseen)" -eq 0
for options in "" "--env kernel" "--set nucd.retire=checkpoint" "--set nucd.mode=ideal"; do
    # shellcheck disable=SC2086 # several words
    like_qemu assemble-0 --set nucd.ranges=oracle $options
    check "an oracle $options: none waits" test "$(of blocked_cycles)" -eq 0
    check "an oracle $options: it knows all" test "$(of foreseen)/$(of unforeseen)" = 16/0
done
like_qemu assemble-64 --set nucd.ranges=oracle
check "tasks with the same lines wait" test "$(of blocked_cycles)" -gt 1000000
check "the addresses are known, but not the numbers" test "$(of unforeseen)" -eq 0

"$croft" cc -O2 "$here/programs/oracle.c" -o "$out/oracle" || exit 1
for options in "" "--env kernel" "--set nucd.retire=checkpoint" "--set host.core=inorder" "--set accel.clock=50MHz"; do
    # shellcheck disable=SC2086 # several words
    like_qemu oracle --set nucd.ranges=oracle $options
    check "$options: it gives up for atomics and unknown addresses" test "$(of unforeseen)" -ge 8
    check "$options: it knows the others" test "$(of foreseen)" -ge 15
done
conclude
