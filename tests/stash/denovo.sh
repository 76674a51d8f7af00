#!/usr/bin/env bash
# DeNovo in machines (l2.coherence: denovo): denovo.sh CROFT OUTDIR. Latencies of words that another unit has registered, beside a sum by
# hand and the Stash paper's (Table 2); programs that contend for words, against qemu-riscv64, also where queues and caches are tiny;
# what a machine cannot be. ALL=1: more rounds.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/stash/limits.sh
source "$(dirname "$0")/limits.sh"

here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
out=$(fresh "$2")
"$croft" cc -O2 "$here/remote.c" -o "$out/remote"
"$croft" cc -O2 -g "$here/conflict.c" -o "$out/conflict"
"$croft" cc -O2 "$here/contend.c" -o "$out/contend"
"$croft" cc -O1 -DFLUSH "$here/waits.c" -o "$out/waits"
"$croft" cc -O2 "$here/../env/threads/guest_launch.c" -o "$out/launch"

evidence() {
    head -n 5 "$out/errors"
}

# Three legs, in cycles of the CPU, of a load that finds no word in its cache: to the bank, to the owner, and back with a line. A read of
# a bank at the own node takes 29: 1 in the cache, 14 in the bank, and two legs, of which the one with a line has 4 flits more, of 2/3
# cycles; so a leg is (14 - 8/3) / 2 = 17/3. The owner's cache looks up 1 clock, 2.857 cycles in a multiprocessor; a stash translates
# first, in 10. From a stash to the cache beside it, no network carries the line: 4, l2.message_latency. A hop takes 8/3. What a hit takes beyond a clock is the pipeline's, and not counted.
#
# by_hand HOSTS ROWS: prints rows of remote.c that differ by more than a clock of the reader and two of the CPU (between clocks of 2 and 3
# GHz, each leg meets other edges), then a line for each kind with the least and the greatest.
by_hand() {
    awk -v hosts="$1" '
        function abs(x) { return x < 0 ? -x : x }
        function hops(a, b) { return abs(a % 4 - b % 4) + abs(int(a / 4) - int(b / 4)) }
        $1 == "remote" {
            clock = $2 < hosts ? 1 : 20 / 7
            owner = $3 == "stash" ? 10 * 20 / 7 : $4 < hosts ? 1 : 20 / 7
            legs = hops($2, $5) + hops($5, $4) + hops($4, $2)
            sum = 29 + 17 / 3 + owner + 8 / 3 * legs
            if ($2 == $4) sum += 4 - 25 / 3
            cycles = ($6 - $7) / 4 * clock + 1
            kind = ($2 < hosts ? "core" : "multiprocessor") " reads a " ($4 < hosts ? "core" : "multiprocessor") "\047s " $3
            if (abs(cycles - sum) > clock + 2) print "differs:", $0, "by hand", sum, "measured", cycles
            if (!(kind in least) || cycles < least[kind]) least[kind] = cycles
            if (cycles > most[kind]) most[kind] = cycles
        }
        END { for (kind in least) printf "%-48s %5.1f to %5.1f cycles; the paper: 35 to 83\n", kind, least[kind], most[kind] }' "$2" | sort
}

while read -r machine hosts rows; do
    status=0
    timeout 300 "$croft" run -m "$machine" --set l2.coherence=denovo --set dram.refresh=none "$out/remote" "$hosts" \
        >"$out/rows" 2>"$out/errors" || status=$?
    check "$machine: remote reads" [ "$status $(grep -c '^remote ' "$out/rows")" = "0 $rows" ]
    by_hand "$hosts" "$out/rows" >"$out/sums"
    check "$machine: remote reads take what the sum by hand says" [ "$(grep -c differs "$out/sums")" = 0 ]
    sed "s/^/$machine: /" "$out/sums" | head -n 12
done <<'END'
stash_micro 15 4096
stash_apps 1 7680
END

# run OPTIONS... PROGRAM ARGUMENTS...: sets $status.
run() {
    status=0
    timeout 600 "$croft" run --set l2.coherence=denovo "$@" >"$out/output" 2>"$out/errors" </dev/null || status=$?
}

same() {
    [ "$status" = "$wanted" ] && cmp -s "$out/output" "$out/wanted"
}

says() {
    [ "$status" -gt 0 ] && [ "$status" -le 2 ] && grep -qF -- "$1" "$out/errors"
}

rounds=40
[ -z "${ALL:-}" ] || rounds=1000
small=(--set net.vcs=1 --set net.buffer=1 --set net.send_queue=1 --set l2.queue=1 --set l2.mshrs=1 --set l2.write_buffer=1
    --set host.l1d.mshrs=1 --set host.l1d.write_buffer=1 --set simt.l1.mshrs=1 --set simt.l1.write_buffer=1)
tiny=(--set net.vcs=1 --set l2.size=4KiB --set l2.ways=4 --set l2.queue=2 --set host.l1d.size=1KiB --set host.l1d.ways=2
    --set simt.l1.size=2KiB --set simt.l1.ways=2)
under_limits
run -m stash_micro --env kernel "$out/launch" work 15
check "15 cores beneath the kernel" same
run -m stash_micro --detail roi "$out/launch" work 15
check "fast-forwarded" same
oracle "$out/wanted" "$out/contend" 4 $rounds
run -m ddr3 --set host.count=4 "$out/contend" 4 $rounds
check "4 cores and no network" same
run -m ddr3 --set host.count=4 --set l2.slices=4 --set l2.message_latency=0ns "$out/contend" 4 $rounds
check "4 slices and messages without time" same

# What must end, and is no fault of the protocol.
for options in "-m stash_micro" "-m ddr3 --set l2.slices=4 --set host.count=4"; do
    # shellcheck disable=SC2086 # options
    run $options --check coherence "$out/waits" flush
    check "$options: a line that others use is cleaned" test "$(cat "$out/output")" = 4799
    # shellcheck disable=SC2086 # options
    run $options --check coherence "$out/waits" bytes
    check "$options: cores store to bytes of a word" test "$status-$(cat "$out/output")" = "0-200 200 200"
    check "$options: which is no stale load" test "$(grep -c 'stale load of' "$out/errors")" = 0
done
run -m stash_apps "$out/waits" queues
check "a launch ends while others do atomics" test "$(cat "$out/output")" = 5
run -m ddr3 "$out/waits"
# shellcheck disable=SC2016 # awk's fields
check "atomics are done at the last level" awk '{ took[NR] = $1 } END { exit !(took[1] > 15 && took[1] - took[2] < 3 && took[2] - took[1] < 3) }' "$out/output"

# A release waits for the registrations before it: with routers at 50 MHz, their way to the last bank and back takes more than 25 clocks of the
# network, 1000 of the core and 350 of the multiprocessor, beyond what its access takes, less than 300.
for core in inorder ooo; do
    run -m stash_micro --set host.core=$core --set net.clock=50MHz "$out/waits" release
    # shellcheck disable=SC2016 # awk's fields
    check "fences of a core, $core" awk 'NR == 1 { exit !($1 > 1000) }' "$out/output"
    # shellcheck disable=SC2016
    check "fences and releases of a warp, $core" awk 'NR > 2 && $1 < 700 { bad = 1 } END { exit bad || NR != 4 }' "$out/output"
done

# Registrations of a line that wait for one another: a program whose threads store rows of its tiles a word at a time sends less than half of them, gives the
# same, and takes no longer; releases do not wait.
"$croft" cc -O2 "$here/../../examples/stash/needleman_wunsch.c" -lm -o "$out/nw"
oracle "$out/wanted" "$out/nw" 64
# sent COMBINE: registrations, and the time in ns.
sent() {
    run -m stash_apps --set l2.combine="$1" --check coherence --check dram --stats "$out/stats.json" "$out/nw" 64
    same && [ ! -s "$out/errors" ] || echo "0 0"
    jq -r '.regions.needleman_wunsch | "\(.["l2.messages.Reg"]) \(.["sim.time"] / 1e6 | floor)"' "$out/stats.json"
}
read -r apart longest < <(sent 0fs)
read -r together time < <(sent 10us)
check "registrations are combined" [ "$((2 * together))" -lt "$apart" ]
check "combining takes no time" [ "$((100 * time))" -lt "$((102 * longest))" ]
check "and counted" [ "$(jq ".total[\"l2.messages.combined\"] > 0" "$out/stats.json")" = true ]
for core in inorder ooo; do
    for combine in 0fs 1ms; do
        run -m stash_micro --set host.core=$core --set l2.combine=$combine "$out/waits" release
        cp "$out/output" "$out/$combine"
    done
    check "releases do not wait for registrations to be combined, $core" cmp -s "$out/0fs" "$out/1ms"
done

# False sharing: words of 15 cores beside each other move lines with coherence by line, and nothing by word. Flits of the network: each core's
# line once, and many times.
"$croft" cc -O2 "$here/../../examples/stash/sharing.c" -o "$out/sharing"
# flits PROTOCOL PLACE
flits() {
    run -m stash_micro --set l2.coherence="$1" --stats "$out/stats.json" "$out/sharing" "$2" 15
    jq '.regions.sharing["net.flits_entered"]' "$out/stats.json"
}
check "false sharing by line" [ "$(flits mesi beside)" -gt $((10 * $(flits mesi apart))) ]
check "none by word" [ "$(flits denovo beside)" -lt $((11 * $(flits denovo apart) / 10)) ]

# DMA engines. Their stores are no atomics, of which the program has as many by copies. Where everything has one entry, hosts refuse to write
# back what stores revoke, slices and the network refuse requests, and both come again: nothing is lost, and the checker finds no old word.
"$croft" cc -O2 "$here/../../examples/stash/sgemm.c" -lm -o "$out/sgemm"
"$croft" cc -O2 "$here/../../examples/stash/micro/pollution.c" -lm -o "$out/pollution"
atomics() {
    run -m stash_apps --set stash=none --set dma.kind=dma --stats "$out/dma.json" "$out/sgemm" --config "$1" 32 48 16
    jq '[.regions.sgemm | to_entries[] | select(.key | test("^l2[.].*[.]atomics$")).value] | add' "$out/dma.json"
}
check "stores of engines are no atomics" [ "$(atomics ScratchGD)" = "$(atomics Scratch)" ]
oracle "$out/wanted" "$out/pollution" --config ScratchGD 4096
run -m stash_micro --set stash=none --set dma.kind=dma "${small[@]}" --check coherence --stats "$out/dma.json" "$out/pollution" --config ScratchGD 4096
check "engines and queues of one" same
check "engines and queues of one: no old word" test "$(grep -c 'stale load of' "$out/errors")" = 0
check "engines and queues of one: Revokes are refused" [ "$(jq '.total["l2.messages.NackRevoke"] > 0' "$out/dma.json")" = true ]
check "engines and queues of one: all words are stored" [ "$(jq '.total["dma.0.words_written"] == 4096' "$out/dma.json")" = true ]

# Flits by what they are for: of registrations in the run above, which lacks nothing; and only where registries ask for them.
check "flits by purpose" [ "$(jq '.total | .["net.read_hops"] + .["net.write_hops"] + .["net.write_back_hops"] + .["net.other_hops"] == .["net.hops"]
    and .["net.write_hops"] > 0' "$out/stats.json")" = true ]
flits mesi apart >/dev/null
check "no such flits by line" [ "$(jq '[.total | keys[] | select(test("net.*_hops"))] | length' "$out/stats.json")" = 0 ]

# What the checker tells.
found() {
    [ "$status" = "$1" ] && grep -qF -- "$2" "$out/errors" && grep -q "$3" "$out/errors"
}
run -m stash_micro --check coherence "$out/conflict" split
check "a word of a cache and a stash is found" found 3 'a cache and a stash of one multiprocessor share word' \
    'before by simt.0, by its stash at .*store'
check "its access is named" found 3 'accessed by simt.0 at' "conflict.c:$(grep -n "the cache's" "$here/conflict.c" | cut -d: -f1)"
run -m stash_micro --check coherence "$out/conflict" race
check "a race is told as one" found 0 'race: load of an old version of word' "by host.1 at .*conflict.c:$(grep -n 'while (!word' "$here/conflict.c" | cut -d: -f1)"
for mode in apart late join early; do
    oracle "$out/wanted" "$out/conflict" $mode
    run -m stash_micro --set net.clock=50MHz --check coherence "$out/conflict" $mode
    check "$mode: the same" same
    check "$mode: nothing is told" [ ! -s "$out/errors" ]
done
for options in "turns --set host.core=inorder" "turns --set host.core=ooo" "blocks --set host.core=inorder"; do
    # shellcheck disable=SC2086 # options
    run -m stash_micro --check coherence --set net.clock=300MHz ${options#* } "$out/conflict" "${options%% *}"
    check "$options: all sums" test "$status-$(cat "$out/output")" = 0-2048
    check "$options: nothing is told" [ ! -s "$out/errors" ]
done
run -m stash_micro --check coherence "$out/conflict" fence
check "an atomic that acquires: the new word" test "$status-$(cat "$out/output")" = 0-7
check "an atomic that acquires: nothing is told" [ ! -s "$out/errors" ]

run -m stash_micro --set host.l1d.prefetch=stride "$out/launch"
check "a prefetcher" says 'host.0: l1d.prefetch: stride is not possible above a last level with coherence: denovo; allowed: none'
run -m stash_micro --set l2.prefetch=stride "$out/launch"
check "a prefetcher in the last level" says 'coherence: denovo has no prefetching; prefetch: none'
run -m gpu --set simt.l2.coherence=denovo "$out/launch"
check "slices of multiprocessors" says "l2.coherence: denovo is only possible in the machine's l2; allowed: mesi"
conclude
