#!/usr/bin/env bash
# Hosts, multiprocessors and the slices of their last level, with its directory, at the nodes of one network: nodes.sh CROFT OUTDIR. Programs that contend
# for lines, against qemu-riscv64, with coherence and memories checked, also where queues have one place; statistics; descriptions
# that cannot be. ALL=1: more rounds.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/stash/limits.sh
source "$(dirname "$0")/limits.sh"

here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
out=$(fresh "$2")
"$croft" cc -O2 "$here/contend.c" -o "$out/contend"
"$croft" cc -O2 "$here/../env/threads/guest_launch.c" -o "$out/launch"

evidence() {
    head -n 5 "$out/errors"
}

# run OPTIONS... PROGRAM ARGUMENTS...: sets $status.
run() {
    status=0
    timeout 600 "$croft" run --set l2.coherence=mesi --stats "$out/stats.json" "$@" >"$out/output" 2>"$out/errors" </dev/null || status=$?
}

same() {
    [ "$status" = "$wanted" ] && cmp -s "$out/output" "$out/wanted"
}

# counted NAME: prints a statistic at the end of the run.
counted() {
    sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" "$out/stats.json" | head -n 1
}

says() {
    [ "$status" = 2 ] && grep -qF -- "$1" "$out/errors"
}

rounds=40
[ -z "${ALL:-}" ] || rounds=1000
small=(--set net.vcs=1 --set net.buffer=1 --set net.send_queue=1 --set l2.queue=1 --set l2.mshrs=1 --set l2.write_buffer=1)
tiny=(--set net.vcs=1 --set l2.size=4KiB --set l2.ways=4 --set l2.queue=2 --set dram.read_queue=1 --set dram.write_queue=1
    --set dram.write_high=1 --set dram.write_low=0)
under_limits
run -m stash_micro --env kernel "$out/launch" work 15
check "15 cores beneath the kernel" same
for slice in {0..15}; do
    check "bank $slice has lines" [ "$(counted "l2.$slice.fills")" -gt 0 ]
done
run -m stash_micro --detail roi "$out/launch" work 15
check "fast-forwarded" same

run -m stash_micro --set net.classes=2 "$out/launch"
check "too few classes" says 'net.classes: 2; with the slices of a last level at its nodes, a network needs 3'
run -m stash_micro --set l2.interleave=line "$out/launch"
check "slices that are at no nodes" says 'host.0 reaches l2 through other parts'
run -m gpu --set simt.l2.interleave=node "$out/launch"
check "no network" says 'simt.l2.interleave: node is not allowed: no network sends requests to this cache'
run -m stash_micro --set host.memory=l2 "$out/launch"
check "beside the network" says 'node is not allowed: requests come from other parts, too'
run -m stash_micro --set simt.l1.line=128B "$out/launch"
check "lines of other sizes" says 'simt.l1.line: 128 B is not allowed; allowed: l2.line, which is 64 B'
conclude
