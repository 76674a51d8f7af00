#!/bin/bash
# Machines with a stash: machine.sh CROFT PROGRAMS WORKDIR. The programs of tests/stash/programs, in folder PROGRAMS, give what they
# give under qemu-riscv64 (where the runtime copies) whatever the sizes of the tables; wrong maps end them with their messages;
# clocks, energy and counts are those that follow from the machine; the log and gdb show mapped words. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

arguments "CROFT PROGRAMS WORKDIR" $#
here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
programs=$(realpath "$2")
work=$(fresh "$3")
machine=$here/stash.yaml

evidence() {
    tail -n 3 "$work/errors" "$work/output"
}

# run STATUS OPTIONS... -- ARGUMENTS
run() {
    run_on "$machine" "$@"
}

value() {
    sed -n '/^  "total"/,/^  "regions"/p' "$work/stats.json" | sed -nE "s/^ *\"$1\": ([0-9]+),?\$/\1/p"
}

says() {
    grep -qF -- "$1" "$work/errors"
}

# Few entries and pages are replaced all the time; narrow warps have lanes that execute AddMap one warp after the other.
variants=("" "--env kernel" "--set simt.blocks=2 --set stash.entries=8 --set stash.pages=16 --set stash.scout=2" "--set stash.answer=word --set simt.width=4 --set stash.prefetch=8"
    "--set stash.answer=line --set stash.replication=false" "--set stash.reads=1 --set stash.writes=1"
    "--set simt.l1.line=64B --set simt.l2.line=64B --set simt.walk_cache.line=64B --set simt.blocks=3 --set simt.reconvergence=minpc")
for program in "$programs"/{tiles,modes,change}-O2; do
    name=${program##*/}
    oracle "$work/oracle" "$program"
    subject=("$program")
    for variant in "${variants[@]}"; do
        read -ra options <<<"$variant"
        check "$name $variant: runs" run 0 --set simt.count=2 "${options[@]}" --
        check "$name $variant: the same" cmp -s "$work/output" "$work/oracle"
        check "$name $variant: maps" test "$(($(value stash.0.map.0.maps) + $(value stash.1.map.0.maps)))" -gt 0
    done
done

# wrong CASE MESSAGE: of errors.c. The place is the instruction's, the kernel's, and the line that has called croft/stash.h.
wrong() {
    check "$1: ends" run 139 --set simt.count=1 -- "$1"
    check "$1: message" says "$2"
    check "$1: thread" grep -qE 'in thread \([0-9]+, 0, 0\) of block \([0-9]+, 0, 0\) of launch 1' "$work/errors"
    check "$1: place" grep -qE '^  at 0x[0-9a-f]+, (operate|five)\+0x[0-9a-f]+ \([^ ]*stash\.h:[0-9]+\), inlined at [^ ]*errors\.c:[0-9]+: stash\.(add|chg)map ' "$work/errors"
}

subject=("$programs/errors-O2")
wrong alignment "the descriptor's address is 0x"
wrong stash_base "stash_base is 32: it must be a multiple of 64, the bytes of a chunk"
wrong global_base "global_base is 0x10002: it must be a multiple of 4"
wrong field_6 "field_size is 6: it must be a multiple of 4 and at least 4"
wrong row_part "row_size is 132: it must be a multiple of object_size"
wrong stride "stride_size is 124: with several rows, it must be a multiple of 4 and at least row_size"
wrong coherent "coherent is 2: it must be 0 or 1"
wrong range "the end of the tile in local memory is 1088: it must not exceed the block's local memory"
wrong far "the end of the tile in local memory is 18446744073709551615: it must not exceed"
wrong overlap "stash_base is 192: the tile's chunks must not belong to another map of the block"
wrong five "the number of the block's maps is 5: it must not exceed the entries of its map index table"
wrong differ "the parameter that differs, counted from 0, is 5, stride_size: all threads of a block must give equal descriptors"
wrong change_differ "the parameter that differs, counted from 0, is 5, stride_size: all threads of a block"
wrong change "the index of the map to change is 1: it must be the result of stash.addmap in the same block"

"$croft" cc -std=c17 -O2 -g -Wall -Wextra "$here/machine_program.c" -o "$work/program"
subject=("$work/program")
faults() {
    check "fault $1: ends" run 139 --set simt.count=1 -- fault "$1"
    check "fault $1: message" says "$2"
    check "fault $1: thread" says "thread (7, 0, 0)"
    check "fault $1: line" says "machine_program.c:"
}
faults o "the address is 0x600100000078: it must be within the map that bits 39 to 32 name"
faults r "the address is 0x600100000074: it must be within the map that bits 39 to 32 name"
faults a "the address is 0x60010000000c: atomic instructions must not access mapped local memory"
faults l "the address is 0x60010000000c: atomic instructions must not access mapped local memory"
faults s "the address is 0x60010000000c: atomic instructions must not access mapped local memory"
faults x "load of 4 bytes from 0x600400000000"
# illegal STATUS MESSAGE ARGUMENT...: with what ends the program.
illegal() {
    check "${*:3}: ends" run "$1" --set simt.count=1 "${@:3}"
    check "${*:3}: message" says "$2"
}
illegal 139 "jump to 0x600100000010" -- fault f
illegal 139 "load of 4 bytes from 0x100c" -- nowhere m
illegal 139 "store of 4 bytes to 0x100c" -- nowhere w
illegal 132 "illegal instruction 0x" -- raw h
check "a multiprocessor without a stash: ends" run_on gpu 132 --set simt.count=1 -- raw
check "a multiprocessor without a stash: message" says "illegal instruction 0x"
check "a multiprocessor with one" run 0 --set simt.count=1 -- raw
illegal 139 "the number of pages of the tile is 16: it must not exceed the entries of the VP-map" --set stash.pages=8 -- pages
check "pages: ends" run 139 --set simt.count=1 -- pages # 16 in each of 8 blocks
check "pages: message" says "the number of pages of running blocks' maps is 80: it must not exceed the entries of the VP-map"

check "entries: ends" run 139 --set simt.count=1 --set stash.entries=4 -- many
check "entries: message" says "the number of maps of running blocks is 5: it must not exceed the entries of the stash-map"

# Maps that wait need the pages that running blocks have, too, only once.
oracle "$work/oracle" "$work/program" rows
for pages in 3 4; do
    check "rows in $pages pages: runs" run 0 --set simt.count=1 --set stash.writes=1 --set stash.pages=$pages -- rows
    check "rows in $pages pages: the same" cmp -s "$work/output" "$work/oracle"
done

for mode in sizes show many atomics; do
    oracle "$work/oracle" "$work/program" "$mode"
    check "$mode: runs" run 0 --set simt.count=2 -- "$mode"
    check "$mode: the same" cmp -s "$work/output" "$work/oracle"
done

# Reuse: 8 blocks of 64 words stay in the stash, so the second and the third launch find them.
oracle "$work/oracle" "$work/program" reuse
check "reuse: runs" run 0 --set simt.count=1 -- reuse
check "reuse: the same" cmp -s "$work/output" "$work/oracle"
check "reuse: words are kept" test "$(value stash.0.map.0.kept)" -eq $((2 * 8 * 64))
check "reuse: none is fetched again" test "$(value stash.0.map.0.fetched)" -eq $((8 * 64))
check "reuse: none is written back" test "$(value stash.0.map.0.written_back)" -eq 0
check "reuse: by block" test "$(value stash.0.kept_of.64) $(value stash.0.fetched_of.64) $(value stash.0.unused_of.16)" = "16 8 24"
check "without replication: runs" run 0 --set simt.count=1 --set stash.replication=false -- reuse
check "without replication: the same" cmp -s "$work/output" "$work/oracle"
check "without replication: none is kept" test "$(value stash.0.map.0.kept)" -eq 0
check "without replication: words are written back" test "$(value stash.0.map.0.written_back)" -eq $((2 * 8 * 64))

# A warp stores 32 words and then loads one of them: a bank delivers it once, as the first-level cache's banks do.
cat >"$work/broadcast.c" <<'END'
#include <croft/simt.h>

static void broadcast(uint32_t *result)
{
    volatile uint32_t *word = simt_shared();
    word[thread_x()] = 1 + thread_x();
    result[thread_x()] = word[7];
}

int main(void)
{
    static uint32_t result[32];
    return simt_launch(broadcast, result, simt_dim(1), simt_dim(32), .scratchpad = 128) < 0 || simt_wait(0) || result[3] != 8;
}
END
"$croft" cc -O2 "$work/broadcast.c" -o "$work/broadcast"
subject=("$work/broadcast")
check "broadcast: runs" run_on stash_apps 0 --set simt.count=1 --set net.in_nodes="1 4 7 10 13 16 19 22 25 28 31 34 37 40 43 46 0 3" --
check "broadcast: words of threads" test "$(value stash.0.hits)" -eq 64
check "broadcast: energy" test "$(value stash.0.hit.energy)" -eq $((33 * 5540))
check "broadcast, scratchpad: runs" run_on stash_apps 0 --set stash=none --set simt.count=1 --set simt.energy.shared=5530fJ \
    --set net.in_nodes="1 4 7 10 13 16 19 22 25 28 31 34 37 40 43 46 0 3" --
check "broadcast, scratchpad: words" test "$(value simt.0.shared.words)" -eq 33
check "broadcast, scratchpad: energy" test "$(value simt.0.work.shared.energy)" -eq $((33 * 5530))
subject=("$work/program")

# Clocks. A hit is an access to a scratchpad, bank conflicts included; a miss is later by its translation. The store misses four
# lines of 128 bytes with eight fields each, one a clock: the load behind it is three clocks later than a scratchpad's.
clocks() {
    sed -nE "s/^clocks.$1 ([0-9]+)\$/\1/p" "$2"
}
check "clocks: run" run 0 --set simt.count=1 --set stash.translation_clocks=10 -- time
cp "$work/output" "$work/ten"
hits=$(value stash.0.hits) misses=$(value stash.0.misses)
check "energy of hits" test "$(value stash.0.hit.energy)" -eq $(($(value stash.0.hit_words) * 5540))
check "words of hits" test "$(value stash.0.hit_words)" -le "$hits"
check "energy of misses" test "$(value stash.0.miss.energy)" -eq $((misses * 8680))
check "energy of the scratchpad is not counted, too" test "$(value simt.0.work.shared.energy)" -eq 0
check "blocks by misses" test "$(value stash.0.misses_of.512)" -eq 1
check "unmapped words" test "$(value stash.0.unmapped.hits)" -eq $((3 * 32)) # clocks.2, .3 and .6
check "mapped words: missed" test "$misses" -eq $((8 * 32 + 32))             # each is loaded once, and 32 are stored
for clocks in 110 210; do
    check "clocks, slower translation: run" run 0 --set simt.count=1 --set stash.translation_clocks=$clocks -- time
    cp "$work/output" "$work/clocks.$clocks"
done
check "a miss pays the translation" test $(($(clocks 0 "$work/clocks.210") - $(clocks 0 "$work/clocks.110"))) -eq 100
run_on gpu 0 --set simt.count=1 -- time
for i in 1 2 3 4 6; do
    check "clocks.$i is that of a scratchpad" test "$(clocks $i "$work/ten")" -eq "$(clocks $i "$work/output")"
done
check "registrations take a clock a line" test "$(clocks 5 "$work/ten")" -eq $(($(clocks 5 "$work/output") + 3))
cp "$work/output" "$work/scratchpad"
check "clocks, four translations: run" run 0 --set simt.count=1 --set stash.translations=4 -- time
check "four lines are registered in a clock" test "$(clocks 5 "$work/output")" -eq "$(clocks 5 "$work/scratchpad")"
check "all lanes in one bank" test "$(clocks 3 "$work/ten")" -gt $(($(clocks 2 "$work/ten") + 30))

# Prefetch: AddMap asks for the tile's 256 words, of which the block uses all, and 32 have come sooner. With one read at a time, the others are
# left out. A map whose place has marked words of another one writes them back sooner.
check "prefetch: run" run 0 --set simt.count=1 --set stash.prefetch=1024 -- time
check "prefetch: words" test "$(value stash.0.map.0.prefetched)" -eq 256
check "prefetch: none twice" test "$(value stash.0.map.0.fetched)" -eq 256
check "prefetch: all are used" test "$(value stash.0.map.0.unused)" -eq 0
check "prefetch: sooner" test "$(clocks 0 "$work/output")" -lt $(($(clocks 0 "$work/ten") - 100))
check "prefetch of 32: run" run 0 --set simt.count=1 --set stash.prefetch=32 -- time
check "prefetch of 32: words" test "$(value stash.0.map.0.prefetched)" -eq 32
check "prefetch, one read: run" run 0 --set simt.count=1 --set stash.prefetch=1024 --set stash.reads=1 -- time
check "prefetch, one read: a line" test "$(value stash.0.map.0.prefetched)" -eq 8
check "prefetch, many blocks: run" run 0 --set simt.count=1 --set stash.prefetch=64 -- many
check "prefetch, many blocks: words" test "$(value stash.0.map.0.prefetched)" -eq $((600 * 64))
oracle "$work/oracle" "$work/program" many
check "prefetch, many blocks: the same" cmp -s "$work/output" "$work/oracle"
check "without prefetch: no counter" test -z "$(run 0 --set simt.count=1 -- many; value stash.0.map.0.prefetched)"

# Twice the same; and a machine without a stash, where nothing else changes.
check "again: runs" run 0 --set simt.count=2 -- many
cp "$work/stats.json" "$work/first.json"
check "again: runs" run 0 --set simt.count=2 -- many
check "again: the same statistics" cmp -s <(without_host "$work/first.json") <(without_host "$work/stats.json")

# Tracks: a span for each AddMap, whose counts and those of instants are the statistics'; tracing changes none of these.
# shows MODE: of the spans that do not only name steps, and of instants.
shows() {
    check "tracks of $*: runs" run 0 --set simt.count=1 "${@:2}" --trace "perfetto:$work/trace.json" -- "$1"
    cp "$work/stats.json" "$work/traced.json"
    check "tracks of $*: runs" run 0 --set simt.count=1 "${@:2}" -- "$1"
    check "tracks of $*: the same statistics" cmp -s <(without_host "$work/traced.json") <(without_host "$work/stats.json")
    jq -r '[.. | objects | select(.cat == "map" and .ph == "b" and .args.block? != null)] | "maps \(length)",
        "fetched \(map(.args.loaded) | add)", "registered \(map(.args.registered) | add)",
        "written_back \(map(.args.written_back) | add)", "kept \(map(.args.reused) | add)"' "$work/trace.json" >"$work/spans"
    while read -r name number; do
        check "tracks of $*: $name" test "$(value "stash.0.map.0.$name")" -eq "$number"
    done <"$work/spans"
    jq -r '[.. | objects | select(.ph == "i" and .args.words? != null) | {what: (.name | split(",")[0]), words: .args.words}] |
        group_by(.what)[] | "\(.[0].what) \(map(.words) | add)"' "$work/trace.json" >"$work/instants"
    while read -r name number; do
        case $name in
        load) name=fetched ;; store) name=registered ;; write-back) name=written_back ;; reuse) name=kept ;;
        esac
        check "instants of $*: $name" test "$(value "stash.0.map.0.$name")" -eq "$number"
    done <"$work/instants"
}
# Each block uses all words that it maps, so what answers bring is what loads have asked for.
shows reuse
check "tracks: reuse" test "$(awk '$1 == "reuse" { print $2 }' "$work/instants")" -eq $((2 * 8 * 64))
# The first launch's maps keep the words, with their indices; the others find them and are no longer valid when their blocks end.
check "tracks: kept maps" test "$(jq '[.. | objects | select(.ph == "b" and .name == "dirty")] | length' "$work/trace.json")" -eq 8
shows many --set stash.entries=8
check "tracks: write-backs" test "$(awk '$1 == "write-back" { print $2 }' "$work/instants")" -gt 30000

# The log and gdb show the window.
check "log: runs" run 0 --set simt.count=1 --log "commit:$work/log" --warp 1.0.0 -- show
check "log: a store to mapped memory" grep -q 'mem 0x0000600100000014 0x00005eed' "$work/log"
check "log: the index of a map" grep -qE ' \(0x[0-9a-f]{7}b\) x1[0-7] 0x0000000000000000$' "$work/log"
check "log, instructions: runs" run 0 --set simt.count=1 --log "insn:$work/log" --warp 1.0.0 -- show
check "log: AddMap, once for each thread" test "$(grep -cE ': 0x[0-9a-f]{16} \(0x[0-9a-f]{7}b\) stash\.addmap a[0-7], a[0-7], [a-z0-9]+$' "$work/log")" -eq 32
check "log, loads: runs" run 0 --set simt.count=1 --log "commit:$work/log" --warp 1.0.0 -- reuse
check "log: a load of mapped memory" grep -qE ' x1[0-7] 0x0000000000000031 mem 0x000060010000001c$' "$work/log"
socket=$work/gdb
timeout 600 "$croft" run -m "$machine" --set simt.count=1 --gdb "$socket" "$work/program" show >"$work/output" 2>"$work/errors" </dev/null &
while kill -0 $! 2>/dev/null && [ ! -S "$socket" ]; do sleep 0.05; done
timeout 600 gdb-multiarch -nx -q -batch -ex 'set confirm off' -ex "target remote $socket" -ex 'break look_here' -ex continue \
    -ex 'print/x mapped[5]' -ex 'print mapped[6]' -ex 'set var mapped[6] = 77' -ex 'print mapped[6]' \
    -ex 'x/4xw 0x600100000010' -ex 'set {int}0x60010000001c = 0x1234' -ex 'x/xw 0x60010000001c' -ex 'x/xw 0x600100000400' \
    -ex 'x/xw 0x600200000000' -ex 'thread 1' -ex 'frame function main' -ex 'print/x work.objects[7].field' \
    -ex 'print work.objects[6].field' -ex 'print/x work.objects[5].field' -ex 'x/xw 0x600100000010' -ex 'delete' -ex continue \
    "$work/program" >"$work/errors" 2>&1 </dev/null || true
status=0
wait $! || status=$?
check "gdb: ends" test "$status" -eq 0
# The window in hexadecimal; a word behind the tile, and a selector without a map; what was stored is in global memory, for the host's
# thread, too, which has no window.
for line in "\$1 = 0x5eed" "\$2 = 42" "\$3 = 77" "0x600100000010:	0x0000001c	0x00005eed	0x0000004d	0x00000031" \
    "0x60010000001c:	0x00001234" "Cannot access memory at address 0x600100000400" \
    "Cannot access memory at address 0x600200000000" "\$4 = 0x1234" "\$5 = 77" "\$6 = 0x5eed" \
    "Cannot access memory at address 0x600100000010"; do check "gdb: $line" says "$line"; done

# In a machine whose multiprocessors have no second level before the network.
oracle "$work/oracle" "$work/program" many
check "nupim: runs" run_on "$here/../../examples/machines/nupim_stash.yaml" 0 -- many
check "nupim: the same" cmp -s "$work/output" "$work/oracle"
check "nupim: maps" test "$(sed -n '/^  "total"/,/^  "regions"/p' "$work/stats.json" | grep -cE '"stash\.[0-9]+\.map\.0\.maps": [1-9]')" -eq 64

# In front of stacks: they execute loops on words that maps have stored, and a loop through a pointer to mapped memory. Only the front's
# multiprocessors have stashes.
"$croft" cc -O2 -g "$here/front.c" -o "$work/loops"
"$croft" candidates --coalesced 32 --misses 100 -m tom -o "$work/front" "$work/loops" >/dev/null
subject=("$work/front")
oracle "$work/oracle" "$work/loops"
for policy in ctrl no_ctrl; do
    check "tom, $policy: runs" run_on "$here/../../examples/machines/tom_stash.yaml" 0 --set offload.policy=$policy --check coherence --check dram --
    check "tom, $policy: the same" cmp -s "$work/output" "$work/oracle"
    check "tom, $policy: offloads" test "$(value offload.offloaded)" -gt 0
    check "tom, $policy: mapped memory reached from a stack" test "$(value 'stack.[0-3].unit.scratchpad_accesses' | awk '{ sum += $1 } END { print sum + 0 }')" -gt 0
    check "tom, $policy: maps" test "$(value 'stash.[0-9]+.map.0.maps' | awk '{ sum += $1 } END { print sum + 0 }')" -eq $((2 * 3 * 4))
    check "tom, $policy: stashes" test "$(value 'stash.[0-9]+.blocks' | wc -l)" -eq 64
done

# In-order cores of one thread: each executes AddMap as a block of its own.
"$croft" cc -O2 -g "$here/../../examples/stash/cores.c" -o "$work/cores"
for mode in map scratchpad cache; do
    subject=("$work/cores")
    oracle "$work/oracle" "$work/cores" $mode
    check "cores, $mode: runs" run_on "$here/../../examples/machines/stash_cores.yaml" 0 --check coherence -- $mode
    check "cores, $mode: the same" cmp -s "$work/output" "$work/oracle"
    check "cores, $mode: maps" test "$(value 'stash.[0-9]+.map.0.maps' | awk '{ sum += $1 } END { print sum }')" -eq "$([ $mode = map ] && echo 15 || echo 0)"
done

# The same near memory, beside NUCD's accelerators, whose tasks use the structures where they are.
for mode in map scratchpad cache task; do
    subject=("$work/cores")
    oracle "$work/oracle" "$work/cores" $mode
    check "cores beside accelerators, $mode: runs" run_on "$here/../../examples/machines/nucd_stash.yaml" 0 --check nucd -- $mode
    check "cores beside accelerators, $mode: the same" cmp -s "$work/output" "$work/oracle"
    check "cores beside accelerators, $mode: maps" test "$(value 'stash.[0-9]+.map.0.maps' | awk '{ sum += $1 } END { print sum }')" -eq "$([ $mode = map ] && echo 15 || echo 0)"
    check "cores beside accelerators, $mode: tasks" test "$(value nucd.offloads)" -eq "$([ $mode = task ] && echo 15 || echo 0)"
done

# Descriptions that make no sense.
refuses() {
    local status=0
    "$croft" show "$machine" --set "$1" >"$work/output" 2>"$work/errors" || status=$?
    check "$1: refused" test "$status" -ne 0
    check "$1: message" says "$2"
}
refuses stash.entries=3 "4 maps of a block need as many entries; allowed: up to \`entries\`, 3"
refuses simt.scratchpad=1056B "a stash of 1056 B is not possible; allowed: a multiple of 64 B, up to 1 MiB"
printf 'extends: tom\nstack: {pad: {kind: stash}}\n' >"$work/stacks.yaml"
machine=$work/stacks.yaml
refuses simt.clock=1GHz "a stash in stack.0 is not possible: below its multiprocessors is memory, and no level that could record who has a word"
printf 'extends: nucd\nstash: {kind: stash}\n' >"$work/cores.yaml"
machine=$work/cores.yaml
refuses host.clock=1GHz "a stash stands in multiprocessors, and the machine has none (simt): loads and stores of cores have no local memory"
conclude
