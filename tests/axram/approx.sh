#!/bin/bash
# CROFT_BY_AXRAM: approx.sh CROFT WORKDIR. Programs that call approximated functions in threads that diverge, and on the host meanwhile,
# print the same with the chips' units as with the networks in software, to the bit, in all arithmetics. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

arguments "CROFT WORKDIR" $#
here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
work=$(fresh "$2")
cd "$work"

evidence() {
    diff expected output | head -n 4
    tail -n 4 errors
}

# compile NAME BY OPTION...: of approx_program.c, unless an option is a file.
compile() {
    local name=$1 by=$2
    shift 2
    "$croft" cc -std=c17 -O2 -g -DCROFT_APPROX_BY=CROFT_BY_"$by" "$@" -lm -o "$name"
}

# run STATUS OPTIONS... -- PROGRAM ARGUMENTS: on machine axram, with statistics.
run() {
    run_on axram "$@"
}

same() {
    cmp -s expected output
}

silent() {
    ! grep -v "^croft run: warning: --check coherence does not watch" errors
}

is() {
    echo "$1 is $(jq ".total[\"$1\"]" stats.json), not $2" >>errors
    [ "$(jq ".total[\"$1\"]" stats.json)" = "$2" ]
}

program=("-include" "$here/approx_networks.h" "$here/approx_program.c")
for arithmetic in sha fxp fp; do
    compile software NETWORK -DCROFT_APPROX_ARITHMETIC=$arithmetic "${program[@]}"
    compile chips AXRAM -DCROFT_APPROX_ARITHMETIC=$arithmetic "${program[@]}"
    "$croft" run --set simt.count=2 software 700 >expected
    check "$arithmetic: runs" run 0 --check coherence --check dram -- ./chips 700
    check "$arithmetic: equal" same
    check "$arithmetic: no findings" silent
    check "$arithmetic: configured once" is axram.configurations 12
done
check "minpc: runs" run 0 --set simt.reconvergence=minpc -- ./chips 700
check "minpc: equal" same
check "no clock: runs" run 0 --set host.core=functional -- ./chips 700
check "no clock: equal" same
check "six chips: runs" run 0 --set dram.channels=6 --set memory.size=768MiB -- ./chips 700
check "six chips: equal" same
check "six chips: configured once" is axram.configurations 6
for together in 2 6; do
    check "$together chips together: runs" run 0 --set axram.together=$together --check coherence --check dram -- ./chips 700
    check "$together chips together: equal" same
    check "$together chips together: no findings" silent
    check "$together chips together: bursts" test "$(jq '.total["axram.taken"]' stats.json)" -gt 0
done
check "12 chips together: refused" run 1 --set axram.together=12 -- ./chips 700
check "12 chips together: message" grep -qx 'croft: CROFT_BY_AXRAM: [a-z]*: the program has 2 functions, but the machine 12 chips, and each 12 that work together have one network' errors
check "without multiprocessors: runs" run 0 --set simt.count=0 -- ./chips 100
"$croft" run --set simt.count=0 software 100 >expected
check "without multiprocessors: equal" same
check "one chip: refused" run 1 --set dram.channels=1 --set memory.size=128MiB --set axram.offset=64MiB --set axram.size=32MiB -- ./chips 10
check "one chip: message" grep -qx 'croft: CROFT_BY_AXRAM: [a-z]*: the program has 2 functions, but the machine 1 chips, each with one network' errors
"$croft" run --set simt.count=2 software 300 >expected
check "kernel: runs" run 0 --env kernel -- ./chips 300
check "kernel: equal" same

# 2048 threads that call together: one request for each warp.
compile one AXRAM -DONLY_TURN -DTOGETHER "${program[@]}"
check "together: runs" run 0 -- ./one 2048
check "together: one request a warp, and the host's" is axram.invocations $((2048 / 32 + 40))

# Beneath the kernel, controllers translate: one page for each request, whose inputs and results share it, and for each network.
lookups() {
    local lookups requests
    lookups=$(jq '[.total | to_entries[] | select(.key | test("^axram[.]tlb[.][0-9]+[.](hits|misses)$")).value] | add' stats.json)
    requests=$(jq '.total["axram.invocations"] + .total["axram.configurations"]' stats.json)
    echo "$lookups lookups, $requests requests" >>errors
    [ "$lookups" = "$requests" ]
}
cp output expected
check "translation: runs" run 0 --env kernel -- ./one 2048
check "translation: equal" same
check "translation: a page for each request" lookups
check "translation: walks" test "$(jq '.total["simt.tlb.walks"]' stats.json)" -gt 12

# Batches: threads run calls whose inputs the host has laid out.
batch=("-include" "$here/approx_networks.h" "$here/batch_program.c")
for arithmetic in sha fxp fp; do
    "$croft" cc -O2 -DCROFT_APPROX_BY=CROFT_BY_NETWORK -DCROFT_APPROX_ARITHMETIC=$arithmetic "${batch[@]}" -o software
    "$croft" cc -O2 -g -DCROFT_APPROX_BY=CROFT_BY_AXRAM -DCROFT_APPROX_ARITHMETIC=$arithmetic "${batch[@]}" -o chips
    "$croft" run --set simt.count=2 software 900 >expected
    check "batch, $arithmetic: runs" run 0 --check coherence --check dram -- ./chips 900
    check "batch, $arithmetic: equal" same
    check "batch, $arithmetic: no findings" silent
    # 29 warps (of the last, lanes 0 to 3) call both functions, and the host 3 times each.
    check "batch, $arithmetic: one request a warp" is axram.invocations $((2 * 2 * (29 + 3)))
done
check "batch, six chips: runs" run 0 --set dram.channels=6 --set memory.size=768MiB -- ./chips 900
check "batch, six chips: equal" same
# Units on HBM, and in an HMC's vaults, whose blocks have four parts: 28 whole warps need all, the last one and the host one.
# A call of turn (2 -> 4 -> 2) reads 16 inputs, one of blend (5 -> 6 -> 3 -> 1, with a bias) 61.
for memory in hbm hmc; do
    machine=$here/../../examples/machines/axram_$memory.yaml
    check "batch, $memory: runs" run 0 -m "$machine" --set dram.tREFI=1us --check dram -- ./chips 900
    check "batch, $memory: equal" same
    check "batch, $memory: suspended" test "$(jq '.total["axram.suspensions"]' stats.json)" -gt 0
    parts=$([ $memory = hbm ] && echo $((29 + 3)) || echo $((28 * 4 + 1 + 3)))
    check "batch, $memory: inputs read" is axram.input_reads $(((16 + 61) * 2 * parts))
done
check "batch without calls: refused" run 3 -- ./chips -3
check "batch without calls: message" grep -qx 'turn: Invalid argument' errors
check "batch too large: refused" run 3 -- ./chips 100000000
check "batch too large: message" grep -qx 'turn: Not enough space' errors
check "batch across records: faults" run 132 -- ./chips 900 across
check "batch across records: message" grep -q "^croft run: [a-z_]*[.]axram.*: the regions of the warp's threads are not in the same blocks" errors

# An application of the paper, with weights that a short training gives.
app=$here/../../examples/axram/inversek2j.c
"$croft" neural --topology 2-16-3 --epochs 20 --folds 2 -o app.h "$app" train 512 >training
for arithmetic in sha fxp fp; do
    compile software NETWORK -DCROFT_APPROX_ARITHMETIC=$arithmetic -include app.h "$app"
    compile chips AXRAM -DCROFT_APPROX_ARITHMETIC=$arithmetic -include app.h "$app"
    check "inversek2j, $arithmetic: software" run 0 -- ./software 512
    grep -vE '^(clocks|time)' output >expected
    check "inversek2j, $arithmetic: runs" run 0 -- ./chips 512
    check "inversek2j, $arithmetic: equal" same
    check "inversek2j, $arithmetic: correct" grep -q '^result    correct$' output
    check "inversek2j, $arithmetic: runs as a batch" run 0 -- ./chips batch 512
    check "inversek2j, $arithmetic: equal as a batch" same
    # What croft neural says of the units' clocks and of columns (tCCDL is 3), for 16 warps, and
    # 512 calls by the host.
    read -r mac columns <<<"$(awk -v name=$arithmetic 'tolower($1) == name { print $5, $6 }' training)"
    check "inversek2j, $arithmetic: clocks of arithmetic" is axram.mac_clocks $((528 * mac))
    check "inversek2j, $arithmetic: clocks of columns" is axram.column_clocks $((528 * columns))
done
conclude
