#!/bin/bash
# A mechanism of its own room: toy.sh BUILD MAKE WORKDIR. Builds the emulator once more, from a copy of the tree with the
# room tests/machine/toy as emu/toy, and checks that the lines which the mechanism needs elsewhere are few, that the room
# keeps to the table of rooms, and that its instruction works on cores of both kinds and in warps: results, times, statistics,
# energy, trace, and what croft show says of it. Prints "N passed, N failed"; the status is 1 if any failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/lib.sh
source tests/lib.sh

arguments "BUILD MAKE WORKDIR" $#
build=$(realpath "$1") make=$2
mkdir -p "$3"
work=$(realpath "$3")
tree=$work/tree
machine=$PWD/tests/machine/toy.yaml
sources=(Makefile README.md isa emu firmware host linker)

MOST=2 # lines elsewhere: in the list of kinds, and in README.md

# The tree with the room, and all that the room needs elsewhere. Dates stay, so that make compiles what has changed.
rm -rf "$tree"
mkdir -p "$tree/tests"
cp -rp "${sources[@]}" "$tree"
cp -p tests/layers.sh "$tree/tests"
cp -rp tests/machine/toy "$tree/emu/toy"
kinds=$tree/emu/machine/kinds.c
# shellcheck disable=SC1003 # the backslash ends a line of a macro
sed -i '/^    KIND(.*[^\\]$/i\    KIND(toy) /* emu/toy */ \\' "$kinds"
# shellcheck disable=SC2016
sed -i 's#^| `emu/nucd/`.*#&\n| `emu/toy/` | the toy mechanism | `isa` `sim` `schema` `mem` `hart` `simt` |#' "$tree/README.md"

# elsewhere: the lines that were added, changed or removed outside of the room, where a changed one counts once.
elsewhere() {
    local source
    for source in "${sources[@]}"; do diff -rNU0 -x toy "$source" "$tree/$source"; done |
        awk '/^@@/ {
                split($2, old, ","); split($3, new, ",")
                a = old[2] == "" ? 1 : old[2]; b = new[2] == "" ? 1 : new[2]
                lines += a > b ? a : b
            }
            END { print lines + 0 }'
}

evidence() {
    tail -n 5 "$work/output" "$work/errors" "$work/build.log"
}

few() {
    local lines
    lines=$(elsewhere)
    echo "$lines lines elsewhere" >"$work/output"
    [ "$lines" -ge 1 ] && [ "$lines" -le "$MOST" ]
}

# Without optimisation: the emulator is compiled once more and runs little.
compile() {
    local jobs=(-j"$(nproc)")
    case " ${MAKEFLAGS:-} " in
    *" -j"* | *--jobserver*) jobs=() ;;
    esac
    "$make" -C "$tree" --no-print-directory -s "${jobs[@]}" BUILD="$work/build" SETUP=no OPTIMIZE=-O0 EXTRA_ROWS= \
        "$work/build/bin/croft" machines >"$work/build.log" 2>&1
}

# run STATUS [OPTIONS...] -- MODE: the program on the machine, with statistics and a trace.
run() {
    local wanted=$1 status=0 options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    (cd "$work" && timeout 600 build/bin/croft run -m "$machine" --stats stats.json --trace perfetto:trace.json \
        "${options[@]}" program "$2" >output 2>errors) || status=$?
    [ "$status" -eq "$wanted" ]
}

# counts NAME VALUE: of the whole run.
counts() {
    sed -n '/^  "total"/,/^  "regions"/p' "$work/stats.json" | grep -E "^ *\"$1\": $2,?\$" >>"$work/output"
}

value() {
    sed -n '/^  "total"/,/^  "regions"/p' "$work/stats.json" | sed -nE "s/^ *\"$1\": ([0-9]+),?\$/\1/p"
}

# takes CLOCKS WITHOUT: the last block, where the instruction that was measured beside it takes WITHOUT.
takes() {
    local with without
    read -r with without < <(sed -nE 's/^clocks ([0-9]+), without ([0-9]+)$/\1 \2/p' "$work/output")
    [ $((with - without)) -eq $(($1 - $2)) ]
}

# clocks: of the last block, with what the core does around it.
clocks() {
    sed -nE 's/^clocks ([0-9]+), .*/\1/p' "$work/output"
}

# slices NUMBER DURATION: on the mechanism's track, which has the instance's name, all so long in us.
slices() {
    local pid
    pid=$(sed -nE 's/.*"pid":([0-9]+),.*"process_name","args":\{"name":"toy"\}.*/\1/p' "$work/trace.json")
    [ -n "$pid" ] && [ "$(grep -cE "\"ph\":\"X\",\"pid\":$pid,.*\"dur\":$2\}" "$work/trace.json")" -eq "$1" ] &&
        [ "$(grep -cE "\"ph\":\"X\",\"pid\":$pid," "$work/trace.json")" -eq "$1" ]
}

says() {
    grep -qE "$2" "$work/$1"
}

check "at most $MOST lines elsewhere" few
check "rooms use what they may" "$tree/tests/layers.sh" >"$work/output"
check "it compiles" compile
"$build/bin/croft" cc -std=c17 -O2 -g -Wall -Wextra tests/machine/toy_program.c -o "$work/program"

# By hand. DDR3-1600K at 800 MHz: 11 clocks from activate to read, 11 from read to data, 4 for 64 bytes; then the sum. In its
# place csrr takes 1 clock on the in-order core (host.latency.serial), in a warp 22 (simt.latency.control); the out-of-order
# core drains before and fetches behind it, and so is compared with itself.
dram=$((11 + 11 + 4))
block=$((dram + 20))
blocks=36 # 32, and 4 that are measured
for core in inorder ooo; do
    check "$core: runs" run 0 --set "host.core=$core" -- host
    check "$core: sums" says output '^32 sums of 32, the last 248028$' # 8 * 31000 + 28
    short=$(clocks)
    check "$core: the core waits" test "${short:-0}" -ge $block
    check "$core: blocks" counts toy.blocks $blocks
    check "$core: histogram" counts toy.clocks.64 $blocks
    check "$core: mean" counts toy.clocks.mean $block.0
    check "$core: energy" counts toy.sum.energy $((blocks * 50000))
    check "$core: track" slices $blocks 0.0575 # 46 clocks of 1.25 ns
    check "$core, longer: runs" run 0 --set "host.core=$core" --set toy.latency=70 -- host
    long=$(clocks)
    check "$core, longer: the core waits for it" test $((${long:-0} - ${short:-0})) -eq 50
    check "$core, longer: mean" counts toy.clocks.mean $((dram + 70)).0
done

check "inorder: runs alone" run 0 -- host
check "inorder: the core waits for nothing else" takes $block 1

# A warp waits for the blocks of all its lanes, which follow each other: the n-th lane's takes n times as long.
check "warp: runs" run 0 -- simt
check "warp: sums" says output '^32 sums of 32, the last 248028$'
check "warp: a thread waits" takes $block 22
check "warp: blocks" counts toy.blocks $blocks
check "warp: histogram" counts toy.clocks.64 5
mean=$(awk -v block=$block 'BEGIN { printf "%.6f", (block * (32 * 33 / 2) + 4 * block) / 36 }')
check "warp: mean" counts toy.clocks.mean "$mean"
check "warp: track" slices $blocks 0.0575
cp "$work/stats.json" "$work/first.json"
check "warp: runs again" run 0 -- simt
check "warp: the same statistics" diff <(without_host "$work/first.json") <(without_host "$work/stats.json")

# Across a crossbar: 2 clocks there, and 3 back for 64 bytes on 32.
printf 'extends: %s\ncrossbar: {clock: 800 MHz}\n' "$machine" >"$work/crossed.yaml"
check "crossbar: runs" run 0 -m "$work/crossed.yaml" -- host
check "crossbar: the core waits" takes $((block + 2 + 3)) 1

# A slow adder: from its edge, which is the memory's too, 32.5 ns and on to its next edge, and a clock.
check "slow: runs" run 0 --set 'toy.clock=100 MHz' --set toy.latency=1 -- host
check "slow: track" slices $blocks 0.05

# A block that takes 1,000 simulated seconds: after one of the processor, a warning; the run goes on until a signal.
for core in inorder ooo; do
    (cd "$work" && exec build/bin/croft run -m "$machine" --set "host.core=$core" --set 'toy.clock=1 MHz' \
        --set toy.latency=1000000000 --max-time '900 s' program host >output 2>errors) &
    while kill -0 $! 2>/dev/null && ! grep -q 'warning' "$work/errors" 2>/dev/null; do sleep 0.1; done
    kill $! 2>/dev/null || true
    status=0
    wait $! || status=$?
    check "standstill, $core: a signal ends the run" test "$status" -eq 143
    check "standstill, $core: a warning" says errors \
        '^croft run: warning: no instruction has ended for [0-9.]+ m?s of simulated time, .*; hart 0 waits at 0x80000[0-9a-f]+; --max-time'
    check "standstill, $core: once" test "$(grep -c warning "$work/errors")" -eq 1
    rm "$work/errors"
done

# All energy is the accounts' sum.
check "energy: runs" run 0 -- host
sum=$(value energy)
check "energy: runs without" run 0 --set 'toy.energy_block=0 fJ' -- host
check "energy: in the sum" test "$((sum - $(value energy)))" -eq $((blocks * 50000))

# Nobody waits who is not timed.
check "fast-forward: runs" run 0 --detail roi -- host
check "fast-forward: sums" says output '^32 sums of 32'
check "fast-forward: no blocks" counts toy.blocks 0

# When the run ends, the mechanism is asked for its findings.
check "budget: kept" run 0 --set toy.budget=$blocks -- host
check "budget: nothing to say" test ! -s "$work/errors"
check "budget: exceeded" run 3 --set toy.budget=$((blocks - 1)) -- host
check "budget: message" says errors "^croft: $blocks blocks were summed; toy[.]budget is $((blocks - 1))\$"
check "allocations" counts toy.allocations 1

check "trap: ends" run 135 -- trap
check "trap: message" says errors 'misaligned access to 0x[0-9a-f]*08$'
check "trap: the instruction" says errors 'toy[.]sum '
check "a lane's trap: ends" run 135 -- lane
check "a lane's trap: message" says errors 'misaligned access to 0x'
check "a lane's trap: the thread" says errors 'thread.* 5'
check "a lane's trap: nothing has begun" counts toy.blocks 0

# Without the part, and without the mechanism.
check "no part: ends" run 132 --set toy=none -- host
check "no part: message" says errors 'illegal instruction 0x'
check "no part: no statistics" test "$(grep -c '"toy[.]' "$work/stats.json")" -eq 0
check "no part, warp: ends" run 132 --set toy=none -- simt
check "no part, warp: message" says errors 'illegal instruction 0x'
check "two parts: refused" run 1 --set toy.count=2 -- host
check "two parts: message" says errors '^croft run: toy[.]1: another part serves the instructions of Xtoy already$'
status=0
"$build/bin/croft" run -m ddr3 "$work/program" host >"$work/output" 2>"$work/errors" || status=$?
check "no mechanism: ends" test $status -eq 132
check "no mechanism: message" says errors 'illegal instruction 0x'

show() {
    "$work/build/bin/croft" show tests/machine/toy.yaml "$@" >"$work/output" 2>"$work/errors"
}
check "show" show
check "show: the key's meaning" says output '^  # Clocks from a block.s arrival to its sum[.]$'
check "show: its range" says output '^  # Allowed: 1 to 1000000000; or auto[.] Default: 20[.]$'
check "show: its value's origin" says output '^  latency: 20  # .*toy.yaml:[0-9]+$'
check "show: a default's origin" says output '^  energy_block: 50 pJ  # default: ours$'
check "graph" show --graph -
check "graph: the part" says output '^`- toy$'
check "graph: its memory" says output '^       memory -> dram[.]in$'
status=0
show --set toy.latncy=1 || status=$?
check "no such key: refused" test $status -ne 0
check "no such key: message" says errors 'toy[.]latency'
conclude
