#!/usr/bin/env bash
# Random traffic in machines with stashes under DeNovo: soak.sh CROFT OUTDIR. Cores, multiprocessors' caches and stashes change words of the
# same lines, through maps that change, over ends of kernels, with evictions from all levels: the words must be those under qemu-riscv64, and
# the checker of coherence finds nothing. ALL=1: 10 million operations. SEED: of the programs.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
out=$(fresh "$2")
"$croft" cc -O2 -g "$here/soak.c" -o "$out/soak"
rounds=4
[ -z "${ALL:-}" ] || rounds=45
seed=${SEED:-1}
operations=0

evidence() {
    head -n 5 "$out/errors"
    cat "$out/output" "$out/wanted"
}

# soak NAME THREADS OPTIONS...
soak() {
    local name=$1 threads=$2 status=0
    shift 2
    seed=$((seed + 1))
    oracle "$out/wanted" "$out/soak" "$threads" $rounds $seed
    timeout 3000 "$croft" run --set l2.coherence=denovo --check coherence --check dram "$@" "$out/soak" "$threads" $rounds $seed \
        >"$out/output" 2>"$out/errors" </dev/null || status=$?
    check "$name, seed $seed: ends" [ "$status" = 0 ]
    check "$name, seed $seed: the same words" cmp -s "$out/output" "$out/wanted"
    check "$name, seed $seed: nothing is found" [ ! -s "$out/errors" ]
    operations=$((operations + $(sed 's/.*, \([0-9]*\) operations/\1/' "$out/output")))
}

small=(--set net.vcs=1 --set net.buffer=1 --set net.send_queue=1 --set l2.queue=1 --set l2.mshrs=1 --set l2.write_buffer=1
    --set host.l1d.mshrs=1 --set host.l1d.write_buffer=1 --set simt.l1.mshrs=1 --set simt.l1.write_buffer=1
    --set stash.reads=1 --set stash.writes=1)
tiny=(--set net.vcs=1 --set l2.size=4KiB --set l2.ways=4 --set l2.queue=2 --set host.l1d.size=1KiB --set host.l1d.ways=2
    --set simt.l1.size=2KiB --set simt.l1.ways=2)
tables=(--set simt.scratchpad=2KiB --set simt.blocks=2 --set stash.entries=8 --set stash.pages=32 --set stash.scout=2)
soak "15 cores and a multiprocessor" 15 -m stash_micro
soak "one core and 15 multiprocessors" 1 -m stash_apps
soak "15 cores, out of order, tiny caches" 15 -m stash_micro --set host.core=ooo "${tiny[@]}"
soak "15 cores, small queues" 15 -m stash_micro "${small[@]}"
soak "15 multiprocessors, tiny caches, small tables" 1 -m stash_apps "${tiny[@]}" "${tables[@]}"
soak "15 multiprocessors, lines, prefetch" 1 -m stash_apps "${tiny[@]}" --set stash.answer=line --set stash.prefetch=16
soak "15 cores, combined registrations" 15 -m stash_micro --set l2.combine=1us
soak "15 multiprocessors, combined registrations, tiny caches, small tables" 1 -m stash_apps "${tiny[@]}" "${tables[@]}" --set l2.combine=10us
soak "15 multiprocessors, contiguous blocks, no replication" 1 -m stash_apps --set simt.placement=contiguous --set stash.replication=false
soak "15 cores and a multiprocessor, words, small tables" 15 -m stash_micro "${tables[@]}" --set stash.answer=word
echo "$operations operations"
[ -z "${ALL:-}" ] || check "10 million operations" [ "$operations" -ge 10000000 ]
conclude
