#!/bin/bash
# Accelerator memory by <croft/axram_memory.h>: memory.sh CROFT WORKDIR. Regions lie where the manual says and keep their contents,
# what is wrong is refused with the cause, and copies cost instructions and time. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

arguments "CROFT WORKDIR" $#
here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
work=$(fresh "$2")

evidence() {
    tail -n 5 "$work/output" "$work/errors"
}

subject=("$work/program")
# run STATUS OPTIONS... -- ARGUMENTS: the program on machine axram, with statistics.
run() {
    run_on axram "$@"
}

# says LINE: the output has this line.
says() {
    grep -qxF -- "$1" "$work/output"
}

between() {
    echo "$2 <= $1 <= $3?" >>"$work/errors"
    [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}

total() {
    jq ".total[\"$1\"]" "$work/stats.json"
}

"$croft" cc -std=c17 -O2 -g "$here/memory_program.c" -o "$work/program"

check "random regions" run 0 -- random 40
check "random regions: right" says "40 rounds, 0 wrong, 0 bytes left"
check "random regions, no clock" run 0 --set host.core=functional -- random 300
check "random regions, no clock: right" says "300 rounds, 0 wrong, 0 bytes left"
check "random regions, six chips" run 0 --set dram.channels=6 --set memory.size=768MiB --set host.core=functional -- random 100
check "random regions, six chips: right" says "100 rounds, 0 wrong, 0 bytes left"
# 96 MiB in even half pages, for regions of 64 blocks in each of 12 chips.
check "full" run 0 --set host.core=functional -- full
check "full: 96 MiB" says "1024 regions of 1024 that fit; accelerator memory has no room for 64 blocks of 128 bytes in each chip; enlarge axram.size"
check "full: the heap ends before" grep -qE '^1[89][0-9] MiB of heap, 0 wrong$' "$work/output"
check "errors" run 0 -- errors
check "copy of more threads" says "22: axram_copy_in: 101 threads, but the region has 100"
check "copy of a network" says "22: axram_copy_out of 1 threads: the address is that of a network (0 threads)"
check "free of an inner address" says "22: axram_free: 0x8c000080 is not the start of a region or network, or was freed already"
check "free of another address" grep -qE '^22: axram_free: 0xb[0-9a-f]+ is not in accelerator memory$' "$work/output"
check "free" test "$(grep -c '^not refused$' "$work/output")" = 2
check "free, twice" says "22: axram_free: 0x8c000000 is not the start of a region or network, or was freed already"
check "values" says "22: axram_malloc: 129 values of 1 threads; 1 to 128 values of 1 or more threads are allowed"
check "too large" grep -q '^12: accelerator memory has no room for 2796203 blocks of 128 bytes in each chip' "$work/output"
check "chips" says "22: axram_network: chips 5 to 64, but the machine has 12"
check "no image" says "22: axram_network: the image for chips 0 to 11 of 12 is not a network's"
# 64 weights are 16 blocks in each of 12 chips, with the header, 8 hidden results and the accumulators.
check "duplicated weights" says "$((12 * 16 * 128 - 64 * 4)) bytes of weights twice or more, of $((12 * 128 * (1 + 16 + 8 + 2)))"
check "nothing is left" says "0 bytes left, 0 wrong"
check "free of what is used" run 0 -- busy
check "free of what is used: refused" says "16: axram_free: an invocation or configuration uses the region at 0x8c000000; wait for its end"
check "free of what was used" says "0 refusals after the end, 0 wrong"
for kind in 0 1 2; do
    check "evaluate, arithmetic $kind" run 0 -- evaluate $kind 1000
    check "evaluate, arithmetic $kind: equal" says "1000 of 1000 equal, 0 wrong"
done
check "kernel: random regions" run 0 --env kernel -- random 20
check "kernel: random regions: right" says "20 rounds, 0 wrong, 0 bytes left"
check "kernel: full" run 0 --env kernel --set host.core=functional -- full
check "kernel: full: the heap ends before" grep -qE '^1[89][0-9] MiB of heap, 0 wrong$' "$work/output"
check "kernel: evaluate" run 0 --env kernel -- evaluate 0 1000
check "kernel: evaluate: equal" says "1000 of 1000 equal, 0 wrong"
check "kernel: untouched page" run 0 --env kernel -- untouched
check "kernel: untouched page: right" says "0 wrong"
check "kernel, space over the program: refused" run 1 --env kernel --set axram.offset=0B -- errors
check "kernel, space over the program: message" grep -q 'but accelerator memory is at 0x80000000-0x8c000000 and must lie between them' "$work/errors"
for core in inorder functional; do
    check "$core: threads in turn" run 0 --set host.core=$core -- turns
    check "$core: threads in turn: right" says "0 wrong"
done

# The cost of shuffling, per word: that of 3200 threads more.
check "copy" run 0 -- copy 3200
instructions=$(total host.0.instructions) clocks=$(total host.0.cycles)
check "copy more" run 0 -- copy 6400
check "copy: 3 to 12 instructions a word" between $((($(total host.0.instructions) - instructions) * 10 / 19200)) 30 120
check "copy: 3 to 60 clocks a word" between $((($(total host.0.cycles) - clocks) * 10 / 19200)) 30 600
conclude
