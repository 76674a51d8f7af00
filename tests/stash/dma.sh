#!/bin/bash
# DMA engines in machines: dma.sh CROFT WORKDIR. Clocks, counts and energy are those that follow from the machine; other accesses of a
# multiprocessor wait as the description says; descriptions that cannot be. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
work=$(fresh "$2")
machine=$work/dma.yaml
# One slice and no refreshes, so that all lines have the same way.
printf 'extends: gpu\nsimt: {count: 1, l2: {slices: 1, size: 1MiB}}\ndma: {kind: dma}\ndram: {refresh: none}\n' >"$machine"
"$croft" cc -std=c17 -O2 -g -Wall -Wextra "$here/dma_program.c" -o "$work/program"
subject=("$work/program")

evidence() {
    tail -n 3 "$work/errors" "$work/output"
}

value() {
    sed -n '/^  "total"/,/^  "regions"/p' "$work/stats.json" | sed -nE "s/^ *\"$1\": ([0-9]+),?\$/\1/p"
}

clocks() {
    sed -nE "s/^$1 ([0-9]+)\$/\1/p" "$2"
}

# A line leaves each clock; a slice takes a request each 2 clocks of the multiprocessor.
check "runs" run_on "$machine" 0 --
cp "$work/output" "$work/usual"
one=$(clocks lines.1 "$work/usual")
check "64 lines" test $(($(clocks lines.64 "$work/usual") - one)) -eq $((63 * 2))
check "loads" test "$(value dma.0.loads)" -eq 4
check "requests" test "$(value dma.0.reads)" -eq $((2 * (1 + 64)))
check "words" test "$(value dma.0.words_read)" -eq $((2 * (1 + 64)))
check "stores" test "$(value dma.0.stores)" -eq 0
check "energy of the scratchpad's accesses" test "$(value dma.0.load.energy)" -eq $((2 * (1 + 64) * 2900))
check "no line passes the first-level cache" test "$(value simt.0.l1.misses)" -lt 64
check "setup: runs" run_on "$machine" 0 --set dma.setup_clocks=110 --
check "a copy begins after its setup" test $(($(clocks lines.1 "$work/output") - one)) -eq 100
check "64 lines, too" test $(($(clocks lines.64 "$work/output") - $(clocks lines.64 "$work/usual"))) -eq 100
check "one request: runs" run_on "$machine" 0 --set dma.requests=1 --
check "one line, one request" test "$(clocks lines.1 "$work/output")" -eq "$one"
cp "$work/output" "$work/single"
trip=$((($(clocks lines.64 "$work/single") - one) / 63))
check "a round trip each" test "$trip" -gt 100
check "two requests: runs" run_on "$machine" 0 --set dma.requests=2 --
check "half as many round trips" test $((2 * ($(clocks lines.64 "$work/output") - one))) -lt $((64 * trip))
check "again: runs" run_on "$machine" 0 --
check "again: the same" cmp -s "$work/output" "$work/usual"

# Beside a copy of 2048 lines, a block with 64 dependent accesses to its scratchpad waits for its end, or does not.
check "beside, core: runs" run_on "$machine" 0 -- beside
copy=$(clocks lines.2048 "$work/output")
check "beside, core: the other block waits" test "$(clocks beside "$work/output")" -gt "$copy"
check "beside, block: runs" run_on "$machine" 0 --set dma.blocks=block -- beside
free=$(clocks beside "$work/output")
check "beside, block: the other block does not wait" test "$free" -lt "$copy"
run_on gpu 0 --set simt.count=1 -- beside
check "no engine: the other block takes as long" test "$(clocks beside "$work/output")" -ge "$free"

# Pages that are not there yet are brought in before the engine starts.
oracle "$work/oracle" "$work/program" pages
for environment in user kernel; do
    check "pages, $environment: runs" run_on "$machine" 0 --env $environment -- pages
    check "pages, $environment: the same" cmp -s "$work/output" "$work/oracle"
    check "pages, $environment: words" test "$(value dma.0.words_written)" -eq 64
done

# Descriptions that make no sense.
refuses() {
    local status=0
    printf 'extends: %s\ndma: {kind: dma}\n%s' "$1" "$2" >"$work/wrong.yaml"
    "$croft" show "$work/wrong.yaml" >"$work/output" 2>"$work/errors" || status=$?
    check "$1: refused" test "$status" -ne 0
    check "$1: message" grep -qF -- "$3" "$work/errors"
}
refuses stash_micro "" "a DMA engine is not possible beside stash"
refuses tom "" "a DMA engine is not possible beside tom"
refuses ddr3 "" "the machine has none (simt)"
refuses gpu "stash: {kind: stash}" "a DMA engine is not possible beside stash"
conclude
