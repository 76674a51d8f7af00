#!/bin/bash
# Prefetchers on machines with several memories or slices: prefetch.sh CROFT WORKDIR FOLDER (of the compiled examples/simt). A
# prefetch goes to the memory and the slice of its line, or is not issued and counted as elsewhere. Each prefetcher of
# each machine, with each way to distribute lines over slices; without ALL=1, a sample. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
self=$(realpath "$0")
folder=$(realpath "$3")
examples=$(realpath "$(dirname "$0")/../../examples")
work=$(fresh "$2")
cd "$work" || exit 1

evidence() {
    tail -n 5 errors output
}

oracle expected "$folder/vector_add"

# sum NAME: the sum of a statistic over all caches.
sum() {
    jq "[.total | to_entries[] | select(.key | endswith(\".$1\")) | .value] | add // 0" one.json
}

# runs MACHINE KEYS...: vector_add behaves as under qemu, obeys the DRAM rules, and each prefetch has one end.
runs() {
    local machine=$1 options=() key
    shift
    for key in "$@"; do options+=(--set "$key"); done
    timeout 300 "$croft" run -m "$machine" --check dram "${options[@]}" --stats one.json "$folder/vector_add" >output 2>errors
    check "${machine##*/}, $*: runs" test $? = 0
    check "${machine##*/}, $*: qemu's output" cmp -s expected output
}

# Second levels that have the lines of their memory: two slices by line; and of two memories each, which a crossbar joins.
cat >memory.yaml <<'X'
extends: gpu
memory: {size: 4 GiB}
host: {l1i: {line: 128 B}, l1d: {line: 128 B}}
l2: {memory: crossbar, line: 128 B}
dram: none
simt: {count: 8, memory: crossbar, l2: none, crossbar: none}
crossbar: {out: "stack.*.l2"}
templates:
  level: {line: 128 B, slices: 2, size: 32 KiB, mshrs: 64, queue: 128, write_policy: write_through, write_allocate: false, prefetch: next_line}
stack:
  kind: group
  count: 4
  l2: {template: level, memory: dram}
  dram: {standard: hmc_tom}
X
cat >pair.yaml <<'X'
extends: memory.yaml
stack: none
crossbar: {out: "pair.*.l2"}
pair:
  kind: group
  count: 2
  l2: {template: level, memory: crossbar}
  crossbar: {out: "stack.*.dram"}
  stack: {kind: group, count: 2, dram: {standard: hmc_tom}}
X

runs nupim {central,external}.l2.prefetch=next_line
check "half of the next lines are elsewhere" test "$(sum prefetches_useful)" -gt 3000 -a "$(sum prefetches_elsewhere)" -gt 2500
runs nupim_crit_tr_w external.l2.prefetch=next_line
runs memory.yaml
check "memory.yaml: lines of other memories" test "$(sum prefetches_elsewhere)" -gt 0 -a "$(sum prefetches)" -gt 0
runs pair.yaml homes="R12 B4 C4 H4 S1 M1 C2 O6" pair.l2.prefetch_degree=8
check "pair.yaml: lines of other memories" test "$(sum prefetches_elsewhere)" -gt 0 -a "$(sum prefetches)" -gt 0
# By partition, 12 slices of gpu share six channels: no next line is in the same slice, and none was brought in vain.
runs gpu simt.l2.prefetch=next_line simt.l2.slices=12 simt.l2.interleave=partition
check "gpu: no line is brought in vain" test "$(sum prefetches)" = 0 -a "$(sum prefetches_elsewhere)" -gt 1000
runs axram simt.l2.prefetch=next_line
check "axram: next lines are used" test "$(sum prefetches)" -gt 3000 -a "$(sum prefetches_unused)" = 0

# Prefetch instructions, 32,768 lines eight ahead of a walk. On ddr3 each line then costs no wait for memory: an idle read is
# 101 clocks of 0.5 ns, of which tRCD, CL and the burst are 65 (27.5 and 5 ns).
"$croft" cc -O2 "$(dirname "$self")/../programs/prefetch.c" -o prefetch
# walks MACHINE: runs it with and without prefetches, as qemu does; statistics in
# prefetches.json and plain.json.
walks() {
    local name arguments
    for name in prefetches plain; do
        arguments=(plain)
        [ "$name" = plain ] || arguments=()
        oracle expected ./prefetch "${arguments[@]}"
        timeout 300 "$croft" run -m "$1" --check coherence --stats "$name.json" ./prefetch "${arguments[@]}" >output 2>errors
        check "prefetch instructions on $1, $name: runs" test $? = 0
        check "prefetch instructions on $1, $name: qemu's output" cmp -s expected output
    done
}

# stat_of NAME STATISTIC: a statistic of the host in one of these runs.
stat_of() {
    jq ".total[\"host.0.$2\"]" "$1.json"
}
for machine in ddr3 nucd; do
    walks "$machine"
    check "$machine: all lines come by prefetches" test "$(stat_of prefetches l1d.prefetches_software)" -gt 32700
    check "$machine: they are used" test "$(stat_of prefetches l1d.prefetches_useful)" -gt 29000
    check "$machine: as many misses less" test $(($(stat_of plain l1d.misses) - $(stat_of prefetches l1d.misses))) -gt 32700
    check "$machine: three have no memory" test "$(stat_of prefetches prefetch_faults)" = 3
done
walks ddr3
hidden=$((($(stat_of plain cpi.memory) - $(stat_of prefetches cpi.memory)) / 32768))
check "ddr3: prefetches hide $hidden clocks of each line's 101" test "$hidden" -gt 95 -a "$hidden" -lt 110
timeout 300 "$croft" run --stats untimed.json ./prefetch >output 2>errors
check "without a clock, nothing is counted" test "$(jq '[.total | keys[] | select(test("prefetch"))] | length' untimed.json)" = 0

# keys MACHINE: its prefetchers.
keys() {
    "$croft" show "$1" | awk '/^ *#/ { next } /:/ { depth = match($0, /[^ ]/); name[depth] = $1; sub(/:$/, "", name[depth])
        if (name[depth] != "prefetch") next
        path = ""; for (i = 1; i <= depth; i += 2) path = path (path ? "." : "") name[i]; print path }'
}

# sweep MACHINE: each prefetcher alone with each kind, and those of second levels with each number and order of slices.
sweep() {
    local machine=$1 key kind slices interleave
    for key in $(keys "$machine"); do
        for kind in next_line stride stream; do
            runs "$machine" "$key=$kind"
            runs "$machine" "$key=$kind" "${key}_degree=8" "${key}_distance=63"
            case $key in *l2.prefetch) ;; *) continue ;; esac
            for slices in 1 2 4 12; do
                for interleave in line partition; do
                    "$croft" show "$machine" --set "${key%prefetch}slices=$slices" \
                        --set "${key%prefetch}interleave=$interleave" >/dev/null 2>&1 || continue
                    runs "$machine" "$key=$kind" "${key%prefetch}slices=$slices" "${key%prefetch}interleave=$interleave"
                done
            done
        done
    done
}

if [ -n "${ALL:-}" ]; then
    for machine in memory.yaml pair.yaml gpu axram ngpu tom_base tom nupim nupim_central nupim_pages nupim_crit_tr_w \
        "$examples"/machines/{stacks,network}.yaml; do
        sweep "$machine"
    done
fi
conclude
