#!/bin/bash
# AxRAM: axram.sh CROFT WORKDIR. Programs that invoke the units by scalar cores and by warps must get what the same networks
# give in software, in all arithmetics, with both chips' numbers, with and without a clock; commands obey the DRAM rules and are
# as many as the topology says; what is wrong is answered with the cause and the place. Prints "N passed, N failed".
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

value() {
    jq -r ".total[\"$1\"]" "$work/stats.json"
}

says() {
    grep -qE -- "$2" "$work/$1"
}

silent() {
    [ ! -s "$work/errors" ]
}

is() {
    echo "$1 is $(value "$1"), not $2" >>"$work/errors"
    [ "$(value "$1")" = "$2" ]
}

"$croft" cc -std=c17 -O2 -g "$here/axram_program.c" -o "$work/program"

# 6 -> 8 -> 1, as blackscholes: 56 RD4 of inputs, 14 of weights and 9 WR4 each.
for kind in 0 1 2; do
    check "host, arithmetic $kind, no launches: runs" run 0 --set simt.launches=false -- host $kind 20
    check "host, arithmetic $kind: runs" run 0 --check dram -- host $kind 20
    check "host, arithmetic $kind: results" says output '^640 of 640 equal, 0 kept'
    check "host, arithmetic $kind: rules" silent
    cp "$work/output" "$work/host$kind"
    check "host, arithmetic $kind: invocations" is axram.invocations 20
    check "host, arithmetic $kind: configurations" is axram.configurations 12
    check "host, arithmetic $kind: inputs" is axram.input_reads $((20 * 56))
    check "host, arithmetic $kind: weights" is axram.weight_reads $((20 * 14))
    check "host, arithmetic $kind: results written" is axram.result_writes $((20 * 9))
    check "host, arithmetic $kind: commands" is dram.reads4 $((20 * 70 + $(value axram.loaded)))
    check "warps, arithmetic $kind: runs" run 0 --check dram -- simt $kind 40
    check "warps, arithmetic $kind: results" says output '^1280 of 1280 equal, 0 kept'
    check "warps, arithmetic $kind: rules" silent
    check "warps, arithmetic $kind: one request a warp" is axram.invocations 40
    check "masked, arithmetic $kind: runs" run 0 -- masked $kind 1
    check "masked, arithmetic $kind: results" says output '^16 of 32 equal, 16 kept'
    check "masked, arithmetic $kind: one request" is axram.invocations 1
    check "no clock, arithmetic $kind: runs" run 0 --set host.core=functional -- host $kind 20
    check "no clock, arithmetic $kind: the same" diff "$work/host$kind" "$work/output"
    check "no clock, arithmetic $kind: warps" run 0 --set host.core=functional -- simt $kind 40
    check "no clock, arithmetic $kind: warps' results" says output '^1280 of 1280 equal, 0 kept'
done

# What columns cost: commands are as many, those of the paper's come closer, and each choice keeps its own rules.
check "columns by the data sheet: runs" run 0 --check dram -- simt 1 40
reads=$(value dram.reads4) clocks=$(value axram.busy_clocks)
check "columns by the paper: runs" run 0 --set axram.columns=paper --check dram -- simt 1 40
check "columns by the paper: results" says output '^1280 of 1280 equal, 0 kept'
check "columns by the paper: rules" silent
check "columns by the paper: as many" test $(($(value dram.reads4) - $(value axram.loaded))) -eq $((40 * 70))
check "columns by the data sheet: as many" test "$reads" -ge $((40 * 70))
check "columns by the paper: clocks" is axram.column_clocks $((40 * 70))
check "columns by the paper: at least 100 clocks fewer" test "$(value axram.busy_clocks)" -lt $((clocks - 40 * 100))
check "columns: another one is refused" run 2 --set axram.columns=ddr4 -- simt 1 1
check "columns: message" says errors 'axram[.]columns: .*ddr4.*gddr5.*paper'

# Units that hold a layer's values.
check "held: runs" run 0 --set axram.held=14 --check dram -- simt 1 40
check "held: results" says output '^1280 of 1280 equal, 0 kept'
check "held: rules" silent
check "held: inputs once" is axram.input_reads $((40 * 6))
check "held: last results only" is axram.result_writes 40
check "held, too few words: inputs as often as before" run 0 --set axram.held=13 -- simt 1 40
check "held, too few words: counted" is axram.input_reads $((40 * 56))

# Halves of a chip, 24 in all, each with a network: twice the columns, of half the words.
for kind in 0 1 2; do
    check "halves, arithmetic $kind: runs" run 0 --set axram.halves=2 --check dram -- simt $kind 40
    check "halves, arithmetic $kind: results" says output '^1280 of 1280 equal, 0 kept'
    check "halves, arithmetic $kind: rules" silent
    check "halves, arithmetic $kind: invocations" is axram.invocations 40
    check "halves, arithmetic $kind: configurations" is axram.configurations 24
    check "halves, arithmetic $kind: columns" is axram.input_reads $((2 * 40 * 56))
    check "halves, arithmetic $kind: host" run 0 --set axram.halves=2 -- host $kind 20
    check "halves, arithmetic $kind: the same" diff "$work/host$kind" "$work/output"
    check "halves, arithmetic $kind, no clock: runs" run 0 --set axram.halves=2 --set host.core=functional -- host $kind 20
    check "halves, arithmetic $kind, no clock: the same" diff "$work/host$kind" "$work/output"
done
check "halves, held, by the paper: runs" run 0 --set axram.halves=2 --set axram.held=14 --set axram.columns=paper --check dram -- simt 1 40
check "halves, held, by the paper: results" says output '^1280 of 1280 equal, 0 kept'
check "halves, held, by the paper: rules" silent
check "halves: two groups are activated" is axram.activate.energy $(($(value dram.activates4) * 2 * 6003000))
check "halves, often refreshed: runs" run 0 --set axram.halves=2 --set dram.tREFI=400ns --check dram -- simt 1 24
check "halves, often refreshed: results" says output '^768 of 768 equal'
check "halves, beneath the kernel: runs" run 0 --env kernel --set axram.halves=2 -- simt 1 20
check "halves, beneath the kernel: results" says output '^640 of 640 equal, 0 kept'
check "halves of HBM: runs" run_on "$here/../../examples/machines/axram_hbm.yaml" 0 --set axram.halves=2 --check dram -- simt 1 8
check "halves of HBM: results" says output '^256 of 256 equal, 0 kept'
check "halves of HBM: rules" silent
check "halves of HMC: refused" run_on "$here/../../examples/machines/axram_hmc.yaml" 2 --set axram.halves=2 -- simt 1 8
check "halves together: refused" run 2 --set axram.halves=2 --set axram.together=2 -- host 0 1
check "halves together: message" says errors 'halves: 2 is for memories with bank groups, and chips that work alone'
check "thirds: refused" run 2 --set axram.halves=3 -- host 0 1

check "coherence: runs" run 0 --check coherence -- reread 1 24
check "coherence: results" says output '^768 of 768 equal'
check "coherence: the warning says who does watch" says errors 'are reported, but for those that axram makes stale$'
check "coherence: threads read what was written" run 0 -- reread 1 24 1
check "coherence: all of them" says output '^768 read their results$'
check "coherence: runs again" run 0 --check coherence -- reread 1 24
check "coherence: nothing is old" test "$(grep -c "old cop" "$work/errors")" -eq 0
check "coherence: lines dropped" is axram.dropped_lines 48
# Inputs wait in the memory pipeline behind stores of 32 lines, for which the first-level cache has few places.
check "coherence, stores: runs" run 0 --check coherence --set simt.l1.write_buffer=4 -- stores 1 40
check "coherence, stores: results" says output '^1280 of 1280 equal, 0 kept'
check "coherence, not invalidated: found" run 3 --check coherence --set axram.invalidate=false -- reread 1 24
check "coherence, not invalidated: message" says errors 'keeps an old copy of line 0x'
# One line each, 15 messages of a clock at 1.4 GHz, the last in 8 clocks more, after 1 CK: 17 or 18 CK.
check "invalidation: runs" run 0 --check coherence -- host 1 20
check "invalidation: a message to each multiprocessor" is axram.signals $((20 * 15))
check "invalidation: over the crossbar" test "$(jq '[.total | to_entries[] | select(.key | test("^simt.crossbar.in.[0-9]*.responses$")) | .value] | add' "$work/stats.json")" = $((20 * 15))
check "invalidation: at least 17 clocks" test "$(value axram.drop_clocks)" -ge $((20 * 17))
check "invalidation: at most 18 clocks" test "$(value axram.drop_clocks)" -le $((20 * 18))
check "invalidation, slow crossbar: runs" run 0 --set simt.crossbar.latency=50 -- host 1 20
check "invalidation, slow crossbar: 30 clocks more" test "$(value axram.drop_clocks)" -ge $((20 * 47))
check "invalidation, slow crossbar: not 31" test "$(value axram.drop_clocks)" -le $((20 * 48))
check "energy: iterations" run 0 -- host 0 1
check "energy: is of them" is axram.sha.energy $(($(value axram.sha_iterations) * 4500))
check "energy: a poll moves 32 bits" is axram.poll.energy $(($(value axram.polls) * 32 * 18000))
check "energy: activates" is axram.activate.energy $(($(value dram.activates4) * 4 * 6003000))
check "out of order: runs" run 0 --set host.core=ooo -- host 2 20
check "out of order: results" says output '^640 of 640 equal'
check "six chips: runs" run 0 --set dram.channels=6 --set memory.size=768MiB --check dram -- simt 1 24
check "six chips: results" says output '^768 of 768 equal'
check "six chips: configurations" is axram.configurations 6
check "fixed time: runs" run 0 --set axram.notify=fixed -- simt 1 24
check "fixed time: results" says output '^768 of 768 equal'
check "fixed time: no polls" is axram.polls 0
check "fast-forward: runs" run 0 --detail roi -- host 1 20
check "fast-forward: the same" diff "$work/host1" "$work/output"
check "fast-forward: no time" is axram.invocations 0
check "staggered: runs" run 0 --set dram.tACT4=18ns --check dram -- simt 1 24
check "staggered: results" says output '^768 of 768 equal'
check "often refreshed: runs" run 0 --set dram.tREFI=400ns --check dram -- simt 1 24
check "often refreshed: results" says output '^768 of 768 equal'
check "often refreshed: suspended" test "$(value axram.suspensions)" -gt 5
check "again: runs" run 0 --set dram.tREFI=400ns -- simt 1 24
cp "$work/stats.json" "$work/first.json"
check "again: runs again" run 0 --set dram.tREFI=400ns -- simt 1 24
check "again: the same statistics" diff <(without_host "$work/first.json") <(without_host "$work/stats.json")

together=()
# fault NAME MESSAGE: in one line, with the instruction, then the place in the source.
fault() {
    check "$1: ends" run 132 "${together[@]}" -- "$1" 1 1
    check "$1: cause" says errors "^croft run: $2"
    check "$1: place" says errors '^  at 0x[0-9a-f]*, [a-z_]*[+]0x[0-9a-f]* [(].*croft/axram[.]h:[0-9]+[)], inlined at [^ ]*:[0-9]+: [a-z_]*[.]axram '
}
fault unconfigured 'initiate[.]axram: chip 0 has no network: config[.]axram must come first$'
fault wrong 'config[.]axram: the region at 0x[0-9a-f]* has no network: its first word is'
fault small 'config[.]axram: the network needs 25 blocks of 128 bytes, but the region has 10$'
fault misaligned 'initiate[.]axram: the region 0x[0-9a-f]*-0x[0-9a-f]* is not of whole words'
fault empty 'initiate[.]axram: the region from 0x[0-9a-f]* to 0x[0-9a-f]* is empty$'
fault crossing 'initiate[.]axram: the region .* crosses to another chip'
fault inputs 'initiate[.]axram: the network of chip 0 has 6 inputs, but the region has 5 blocks$'
fault outside 'initiate[.]axram: the region .* is not in accelerator memory, which is at'
fault alone 'wrt_res[.]axram: initiate[.]axram must come first$'
fault died 'wrt_res[.]axram of thread 0: initiate[.]axram must come first$'
fault units 'wrt_res[.]axram: the units of the results, 0xfffffffe, are not those of the inputs, 0xffffffff$'
fault chips 'wrt_res[.]axram: the inputs are in chip 0, the results in chip 1$'
fault lane 'initiate[.]axram of thread 5: the region .* is not of whole words'

# Chips that work together. Over two chips, six inputs are needed by the other one, the home gets the other's four hidden results, and
# computes the result, which lies in the other. A value is four bursts.
for together in 2 3 12; do
    check "$together together: runs" run 0 --set axram.together=$together --check dram -- simt 0 40
    check "$together together: results" says output '^1280 of 1280 equal, 0 kept'
    check "$together together: rules" silent
    check "$together together: invocations" is axram.invocations 40
    check "$together together: inputs" is axram.input_reads $((40 * 56))
    check "$together together, no clock: runs" run 0 --set axram.together=$together --set host.core=functional -- simt 0 40
    check "$together together, no clock: results" says output '^1280 of 1280 equal, 0 kept'
done
for kind in 0 1 2; do
    check "over two chips, arithmetic $kind: runs" run 0 --set axram.together=2 --check dram -- borders $kind 6
    check "over two chips, arithmetic $kind: results" says output '^192 of 192 equal, 0 kept'
    check "over two chips, arithmetic $kind: bursts" is axram.given $((6 * 4 * (6 + 4 + 1)))
done
check "over two chips, no clock: runs" run 0 --set axram.together=2 --set host.core=functional -- borders 1 6
check "over two chips, no clock: results" says output '^192 of 192 equal, 0 kept'
check "beneath the kernel, together: runs" run 0 --env kernel --set axram.together=4 -- simt 1 20
check "beneath the kernel, together: results" says output '^640 of 640 equal, 0 kept'
together=(--set axram.together=2)
fault teams 'initiate[.]axram: the region .* crosses to another team of chips; teams change every 512 KiB'
fault two 'config[.]axram: the configuration is in two chips, 0 and the next; each has its own$'
fault different 'initiate[.]axram: chips 0 and 1 work together, but have different networks$'
fault small 'config[.]axram: the network needs 32 blocks of 128 bytes where chips work together, but the region has 10$'
check "5 together: refused" run 2 --set axram.together=5 -- host 0 1
check "5 together: message" says errors ": together: 5 chips; it must divide a memory's 12 chips"

# Virtual addresses that name other chips than their pages.
"$croft" cc --bare -std=gnu17 -O2 -I"$here/../.." "$here/alias_program.c" "$here"/../firmware/support/{support.c,attempt.S} -o "$work/alias"
status=0
"$croft" run -m axram "$work/alias" >"$work/output" 2>"$work/errors" || status=$?
check "aliases: passed" says output '^5 passed, 0 failed$'
check "aliases: cause" says errors '^croft run: initiate[.]axram: the address 0x10c208000 is of chip 4, but its page is in chip 0; map .* multiple of 3072 KiB$'

status=0
"$croft" run -m gpu "$work/program" >"$work/output" 2>"$work/errors" || status=$?
check "without the part: ends" test $status -eq 132
check "without the part: message" says errors 'illegal instruction'
check "another memory: refused" run 2 --set dram.standard=gddr5 -- host 0 1
check "another memory: message" says errors 'gddr5_axram'
check "crooked space: refused" run 2 --set axram.offset=1MiB -- host 0 1
check "crooked space: message" says errors 'offset: it and size must be multiples of 3072 KiB'
check "space over the program: refused" run 1 --set axram.offset=0B -- host 0 1
check "space over the program: message" says errors 'ends at 0x[0-9a-f]* .* but accelerator memory is at 0x80000000-0x8c000000 and must lie between'
# Parts by other names; with and without a clock, a machine has one.
printf 'extends: functional\nnn: {kind: axram, offset: 0 B}\n' >"$work/named.yaml"
status=0
"$croft" run -m "$work/named.yaml" "$work/program" host 0 1 >"$work/output" 2>"$work/errors" || status=$?
check "space over the program, by another name: refused" test $status -eq 1
check "space over the program: the part's name" says errors 'must lie between them; change nn[.]offset or nn[.]size'
for machine in functional axram; do
    printf 'extends: %s\nnn: {kind: axram}\nother: {kind: axram, offset: 768 MiB}\n' $machine >"$work/two.yaml"
    status=0
    "$croft" run -m "$work/two.yaml" "$work/program" host 0 1 >"$work/output" 2>"$work/errors" || status=$?
    check "$machine, two parts: refused" test $status -eq 1 -o $status -eq 2
    check "$machine, two parts: message" says errors 'two[.]yaml:[23]: a machine has one part of kind axram, and .* is it; remove'
done

# The device tree is loaded outside of accelerator memory, which is nearly to the end of main memory here; and so must be programs.
printf '_start: li t0, 0xb3f00000; li t1, 0x100000; li t2, 0x5555\n bltu a1, t0, 1f\n li t2, 0x13333\n1: sw t2, (t1)\n2: j 2b\n.globl _start\n' \
    >"$work/firmware.S"
"$croft" cc --bare -nostdlib "$work/firmware.S" -o "$work/firmware"
status=0
"$croft" run -m axram --set 'axram.offset=831 MiB' --set 'memory.size=1 GiB' --bios "$work/firmware" >"$work/output" 2>"$work/errors" || status=$?
check "the device tree is below the space" test $status -eq 0
status=0
"$croft" run -m axram --set axram.offset=0B --bios "$work/firmware" >"$work/output" 2>"$work/errors" || status=$?
check "firmware in the space: refused" test $status -eq 1
check "firmware in the space: message" says errors 'firmware [(]0x80000000-.*[)] overlaps axram [(]0x80000000-0x8bffffff[)]'
conclude
